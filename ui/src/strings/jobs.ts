import type { Days, Schedule } from "../pages/jobs/schedule.ts";

const NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const LIST = new Intl.ListFormat("en", { type: "conjunction" });

const clock = (hour: number, minute: number): string => `${hour}:${String(minute).padStart(2, "0")}`;
const which = (days: Days): string =>
  typeof days === "string" ? days : LIST.format(days.map((day) => NAMES[day] ?? ""));

/** Say what a schedule means; null: its own text says it best. */
function saying(meaning: Schedule): string | null {
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
  waiting: "waiting",
  running: "running",
  done: "done",
  failed: "failed",
  skipped: "skipped",
};

export const jobs = {
  title: "Jobs",
  intro: "Prompts that run automatically on a schedule. Each run is a conversation of its own.",
  list: "All jobs",
  none: { title: "No jobs yet", text: "Schedule a prompt, every morning for example." },
  all: "All jobs",
  back: "Back to the jobs",
  saying,
  states,
  next: "Next",
  never: "Will not run again.",
  paused: "paused since",
  last: "last run:",
  make: "New job",
  makeDo: "Create",
  change: "Edit",
  run: "Run now",
  pause: "Pause",
  resume: "Resume",
  remove: "Delete",
  removeTitle: (name: string) => `Delete ${name}?`,
  removeHelp: "It will not run again. The conversations of its runs are kept.",
  removed: (name: string) => `${name} was deleted. Its conversations are kept.`,
  ran: (state: string) => `Started: ${states[state] ?? state}.`,
  rests: "Paused.",
  goesOn: "Resumed.",
  menu: (name: string) => `More for ${name}`,
  facts: { schedule: "When", cron: "Cron", zone: "Time zone", target: "Goes to", mirror: "Mirror", maker: "Created by" },
  mirrors: { none: "Only in the run's own conversation", target: "Also in the conversation at its target" },
  owner: "the owner",
  prompt: "Prompt",
  runs: {
    title: "Runs",
    none: "It has not run yet.",
    open: "Open the conversation",
    took: "took",
  },
  form: {
    prompt: "Prompt",
    promptHint: "What should I water today?",
    name: "Name (optional)",
    nameHelp: "If empty, the first words of the prompt are used.",
    schedule: "When",
    scheduleHelp: "In plain words, or as a cron line.",
    examples: "For example",
    zone: "Time zone",
    target: "Where the answer goes",
    targetHelp: "A platform, a chat such as telegram:42, or several separated by commas.",
    targetOwn: "Answers come back to you.",
    targets: {
      origin: "Here, in the run's own conversation",
      local: "To a file on the server",
      all: "To the home chat of every platform",
    },
    home: (platform: string) => `Home chat on ${platform}`,
    profile: "Profile",
    mirror: "Add it to the conversation there",
    mirrorHelp: "The answer can then be discussed in the chat it goes to.",
    times: "Next runs",
  },
  examples: ["every day 9:00", "every weekday 17:30", "every mon,thu 8:00", "every 30m", "0 9 1 * *"],
};
