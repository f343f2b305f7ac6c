export const people = {
  title: "People",
  intro: "Who may write to the agent, and who is who. Nobody may until you let them in.",
  waiting: {
    title: "Waiting to be let in",
    intro:
      "Unknown senders are shown a code. Have them tell it to you in a way that proves who they are; the name here is only what they call themselves.",
    none: "Nobody is waiting.",
    asked: "asked",
    until: "code expires",
    code: "Their code",
    codeHint: "K7QM-3XHA",
    platform: "Platform",
    anywhere: "Any platform",
    approve: "Let in",
    approved: (who: string) => `${who} may write now.`,
    refuse: "Reject",
    refused: (who: string) => `${who} was rejected.`,
  },
  grants: {
    title: "Let in",
    intro: "In addition to those named in the settings.",
    none: "Nobody has been let in here yet.",
    since: "since",
    allow: "Let somebody in",
    allowTitle: "Let somebody in without a code",
    allowDo: "Let in",
    sender: "Who",
    senderHint: "telegram:42",
    senderHelp: "The platform, a colon, and the id there.",
    name: "Name (optional)",
    revoke: "Revoke",
    revoked: (who: string) => `${who} can no longer write, unless the settings name them.`,
  },
  persons: {
    title: "One person, several apps",
    intro:
      "Joined senders are one person, who sees their own conversations everywhere. People can do this themselves with /link.",
    none: "Nobody uses several apps yet.",
    join: "Join two",
    joinTitle: "Join two senders",
    joinHelp:
      "Only do this if both are the same person: each will see what the other said. Their messages stay where they are.",
    joinDo: "Join",
    one: "One",
    other: "And the other",
    joined: (who: string) => `${who} is one person now.`,
    unnamed: "Unnamed",
    rename: "Rename",
    renameTitle: "Rename this person",
    renameName: "Name",
    part: (who: string) => `Part ${who}`,
    parted: (ended: number) =>
      ended === 0
        ? "They are separate people again."
        : `They are separate people again. ${ended === 1 ? "1 conversation they shared has" : `${ended} conversations they shared have`} ended.`,
    menu: (who: string) => `More for ${who}`,
  },
  senders: {
    title: "Everybody known",
    none: "Nobody has written yet.",
    seen: "first seen",
    silent: "has not written yet",
    isJoined: "joined with others",
    join: "Join with another sender",
    forget: "Forget for good",
    show: "Show their conversations",
  },
  forget: {
    title: (who: string) => `Forget ${who} for good?`,
    sure: (sessions: string, messages: string, files: string) =>
      `${sessions} with ${messages} and ${files} will be removed. This cannot be undone.`,
    sessions: (many: number) => (many === 1 ? "1 conversation" : `${many} conversations`),
    messages: (many: number) => (many === 1 ? "1 message" : `${many} messages`),
    files: (many: number) => (many === 1 ? "1 attachment" : `${many} attachments`),
    shared: (many: number) =>
      many === 1
        ? "1 conversation shared with others is kept, without what they said there and the answers to it."
        : `${many} conversations shared with others are kept, without what they said there and the answers to it.`,
    branches: (many: number) =>
      many === 1
        ? "1 branch will lose the beginning it shared."
        : `${many} branches will lose the beginning they shared.`,
    senders: (many: number) => `All their ${many} senders are forgotten together.`,
    type: (id: string) => `Type ${id} to confirm`,
    act: "Forget for good",
    done: (id: number) => `Forgotten. Certificate ${id}`,
    wiping: "All rows are removed; traces in the journal are still being wiped.",
    removing: "The rest is still being removed.",
    reach: "What cannot be taken back from here",
  },
  certificates: {
    title: "What was forgotten",
    intro: "Each certificate says how much was removed.",
    none: "Nothing has been forgotten yet.",
    name: (id: number) => `Certificate ${id}`,
    states: { removing: "being removed", wiping: "being wiped", done: "done" },
    nothing: "nothing was there",
  },
};
