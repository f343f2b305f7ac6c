import type { Days, Meaning } from "../pages/jobs/schedule.ts";

const NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const LIST = new Intl.ListFormat("en", { type: "conjunction" });

const clock = (hour: number, minute: number): string => `${hour}:${String(minute).padStart(2, "0")}`;
const which = (days: Days): string =>
  typeof days === "string" ? days : LIST.format(days.map((day) => NAMES[day] ?? ""));

/** Say what a schedule means; null: its own text says it best. */
function saying(meaning: Meaning): string | null {
  switch (meaning.kind) {
    case "interval":
      return meaning.number === 1 ? `Every ${meaning.unit}` : `Every ${meaning.number} ${meaning.unit}s`;
    case "days":
      return `Every ${which(meaning.days)} at ${clock(meaning.hour, meaning.minute)}`;
    case "monthly":
      return `On day ${meaning.day} of every month at ${clock(meaning.hour, meaning.minute)}`;
    case "once":
      return `Once, at ${meaning.moment.replace("T", " ")}`;
    case "other":
      return null;
  }
}

const states: Readonly<Record<string, string>> = {
  waiting: "waits",
  running: "runs",
  done: "done",
  failed: "failed",
  skipped: "skipped",
};

export const jobs = {
  title: "Jobs",
  intro: "What is asked by itself, at set times. Each run is a conversation of its own.",
  list: "All jobs",
  none: { title: "There is no job yet", text: "Have something asked by itself, every morning for example." },
  all: "All jobs",
  back: "Back to the jobs",
  saying,
  states,
  next: "Next",
  never: "It does not come again.",
  paused: "It rests since",
  last: "last run:",
  make: "New job",
  makeDo: "Make it",
  change: "Change",
  run: "Run now",
  pause: "Let it rest",
  resume: "Let it go on",
  remove: "Delete",
  removeTitle: (name: string) => `Delete ${name}?`,
  removeHelp: "It is not asked any more. The conversations of its runs stay.",
  removed: (name: string) => `${name} is deleted. Its conversations stay.`,
  ran: (state: string) => `It was started: ${states[state] ?? state}.`,
  rests: "It rests from now on.",
  goesOn: "It goes on.",
  menu: (name: string) => `More for ${name}`,
  facts: { schedule: "When", cron: "As cron", zone: "Time zone", target: "Where to", mirror: "Mirror", maker: "Made by" },
  mirrors: { none: "Only in the conversation of the run", target: "Also in the conversation that goes on there" },
  owner: "the owner",
  prompt: "What is asked",
  runs: {
    title: "Runs",
    none: "It has not run yet.",
    open: "Open the conversation",
    took: "took",
  },
  form: {
    prompt: "What shall be asked",
    promptHint: "What should I water today?",
    name: "Name (optional)",
    nameHelp: "Without one, its first words are the name.",
    schedule: "When",
    scheduleHelp: "In plain words, or as a cron line.",
    examples: "For example",
    zone: "Time zone",
    target: "Where the answer goes",
    targetHelp: "A platform, a chat as telegram:42, or several with commas between them.",
    targetOwn: "The answers come back to you.",
    targets: {
      origin: "Here, into the conversation of the run",
      local: "Into a file on the server",
      all: "To the home of every platform",
    },
    home: (platform: string) => `The home of ${platform}`,
    profile: "Profile",
    mirror: "Make it part of the conversation there",
    mirrorHelp: "What it says can be talked about in the chat it goes to.",
    times: "The next times",
  },
  examples: ["every day 9:00", "every weekday 17:30", "every mon,thu 8:00", "every 30m", "0 9 1 * *"],
};
