import { span } from "../design/moments.ts";

export const conversation = {
  transcript: "Conversation",
  greeting: { title: "Ready when you are", text: "The conversation begins with your first words." },
  forgotten: { title: "This conversation was deleted", text: "It was removed for good, and nothing of it is kept." },
  failed: "This conversation could not be loaded.",

  line: (who: string, seq: number) => `${who}, line ${seq}: copy its link`,
  linkCopied: "The link of this line was copied.",
  who: { person: "Person", agent: "Agent", tool: "Tool", undone: "Taken back", gap: "Broken off" },
  untitled: "Untitled",

  knot: {
    first: "",
    new: "Begun with /new",
    idle: (silence: number) => (silence < 60_000 ? "After a silence" : `After ${span(silence)} of silence`),
    daily: "A new day",
    suspended: "After too many interruptions",
    closed: "After the one before was ended",
    branch: "Branched off here",
    continued: "Goes on from before",
    parted: "After two people were parted",
    background: "Begun in the background",
    from: (title: string) => `Earlier: ${title}`,
    of: (title: string) => `From: ${title}`,
  },
  end: {
    new: "Ended with /new",
    idle: "Ended after a silence",
    daily: "Ended with the day",
    suspended: "Ended after too many interruptions",
    closed: "Ended by hand",
    switched: "Left for another conversation",
    linked: "Ended when two people became one",
    parted: "Ended when two people were parted",
    next: (title: string) => `Goes on: ${title}`,
  },
  cut: {
    title: (lines: number) => `${lines.toLocaleString()} lines are summarised for the agent`,
    unfold: "Show them",
    fold: "Fold them",
    summary: "What the agent reads instead",
    restore: "Restore",
    restoreHint: "Let the agent read the lines themselves again",
  },
  fork: (count: number) => (count === 1 ? "A branch leaves here" : `${count} branches leave here`),
  asked: (answer: string) => `Answer: ${answer}`,
  retry: "Retry",
  lost: (place: string) => `Not delivered to ${place}.`,
  resent: "It is sent once more.",

  pending: { title: "Just written", failed: "Not sent.", away: "Not sent yet. It goes out once the connection is back." },
  discard: "Discard",

  working: "Working",
  waiting: "Waits for your answer",
  newBelow: (count: number) => (count === 0 ? "To the end" : `${count.toLocaleString()} new below`),
  loading: "Loading what is before",

  news: {
    label: "Since you last looked",
    title: (rounds: number) => `${rounds.toLocaleString()} questions were answered here since you last looked.`,
    first: "To the first",
    sum: "Sum it up",
    ask: (moment: string) => `Sum up what was said here since ${moment}.`,
    askAbout: (title: string) => `Sum up what was said in “${title}”:`,
    who: { user: "Person", assistant: "Agent", tool: "Tool", system: "System" },
  },

  minimap: "Overview",
  minimapLine: (seq: number, last: number) => `Line ${seq.toLocaleString()} of ${last.toLocaleString()}`,
};
