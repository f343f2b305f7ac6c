import { formatDuration } from "../design/formatting.ts";

export const conversation = {
  transcript: "Conversation",
  greeting: { title: "Ready when you are", text: "Your first message starts the conversation." },
  forgotten: { title: "This conversation was deleted", text: "It was permanently deleted; nothing of it is kept." },
  failed: "This conversation could not be loaded.",

  line: (who: string, seq: number) => `${who}, line ${seq}: copy link`,
  linkCopied: "Link copied.",
  who: { person: "Person", agent: "Agent", tool: "Tool", undone: "Undone", gap: "Interrupted" },

  knot: {
    first: "",
    new: "Started with /new",
    idle: (silence: number) => (silence < 60_000 ? "After a silence" : `After ${formatDuration(silence)} of silence`),
    daily: "A new day",
    suspended: "After too many interruptions",
    closed: "After the previous one was ended",
    branch: "Branched off here",
    continued: "Continued from before",
    parted: "After two people were parted",
    background: "Started in the background",
    from: (title: string) => `Earlier: ${title}`,
    of: (title: string) => `From: ${title}`,
  },
  end: {
    new: "Ended with /new",
    idle: "Ended after a silence",
    daily: "Ended with the day",
    suspended: "Ended after too many interruptions",
    closed: "Ended manually",
    switched: "Left for another conversation",
    linked: "Ended when two people became one",
    parted: "Ended when two people were parted",
    next: (title: string) => `Continues in: ${title}`,
  },
  cut: {
    title: (lines: number) => `${lines.toLocaleString()} lines are summarised for the agent`,
    unfold: "Show them",
    fold: "Hide them",
    summary: "What the agent reads instead",
    restore: "Restore",
    restoreHint: "Let the agent read the original lines again",
  },
  fork: (count: number) => (count === 1 ? "A branch starts here" : `${count} branches start here`),
  asked: (answer: string) => `You answered: ${answer}`,
  retry: "Retry",
  lost: (place: string) => `Not delivered to ${place}.`,
  resent: "Sending again.",

  pending: {
    title: "Just written",
    failed: "Not sent.",
    away: "Not sent yet. It will be sent when you are back online.",
  },
  discard: "Discard",

  working: "Working",
  waiting: "Waiting for your answer",
  newBelow: (count: number) => (count === 0 ? "To the end" : `${count.toLocaleString()} new below`),
  loading: "Loading earlier messages",

  news: {
    label: "Since you last looked",
    title: (rounds: number) => `${rounds.toLocaleString()} questions have been answered here since you last looked.`,
    first: "To the first",
    sum: "Sum it up",
    ask: (moment: string) => `Sum up what was said here since ${moment}.`,
    askAbout: (title: string) => `Sum up what was said in “${title}”:`,
    who: { user: "Person", assistant: "Agent", tool: "Tool", system: "System" },
  },

  minimap: "Overview",
  minimapLine: (seq: number, last: number) => `Line ${seq.toLocaleString()} of ${last.toLocaleString()}`,
};
