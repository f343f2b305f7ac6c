import { getPlatformName as nameOfPlatform } from "../design/platforms.ts";
import { SETTING_NAMES } from "./setting_names.ts";

const choices: Readonly<Record<string, string>> = {
  none: "Never",
  idle: "After a silence",
  daily: "Every day",
  both: "After a silence, or every day",
  daily_and_idle: "Every day, if it has been silent",
  member: "Each member has their own",
  shared: "All share one",
  queue: "It waits for its turn",
  collect: "It joins the message already waiting",
  interrupt: "It stops the turn",
  steer: "It reaches the agent while it works",
  note: "The agent is told",
  rerun: "The turn runs again",
  apart: "One for each chat",
  "one conversation": "One for all chats",
  auto: "Automatic",
  echo: "The echo, which needs no key",
  model: "A model",
  acp: "A program",
  python: "Your own code",
  console: "For people",
  json: "For programs",
  debug: "Everything",
  info: "Information",
  warning: "Warnings",
  error: "Errors",
};

const tables: Readonly<Record<string, string>> = {
  agent: "The agent",
  scribe: "Titles and summaries",
  context: "What the agent is told",
  tools: "Which tools",
  "reset.default": "When a new conversation starts automatically",
  busy: "While the agent is busy",
  sharing: "Groups and threads",
  access: "Who may write",
  spend: "Limits in US dollars",
  retention: "How long things are kept",
  server: "Where it listens",
  logs: "The log",
  hooks: "Hooks",
};

const within: Readonly<Record<string, (name: string) => string>> = {
  providers: (name) => `Provider ${name}`,
  platforms: (name) => nameOfPlatform(name),
  mcp: (name) => `MCP server ${name}`,
  profiles: (name) => `Profile ${name}`,
  "reset.kinds": (name) => `When a new conversation starts, in places of the kind ${name}`,
  "reset.platforms": (name) => `When a new conversation starts, on ${nameOfPlatform(name)}`,
  "sharing.platforms": (name) => `Groups and threads on ${nameOfPlatform(name)}`,
  "tools.platforms": (name) => `Which tools on ${nameOfPlatform(name)}`,
  "busy.platforms": () => "While the agent is busy, by platform",
  "retention.kinds": () => "Days, by kind of place",
  "retention.platforms": () => "Days, by platform",
  "retention.origins": () => "Days, by who started it",
};

const examples: Readonly<Record<string, readonly string[]>> = {
  agent: ["providers.attic.base_url", "agent.options.temperature", "agent.personalities.terse"],
  tools: ["mcp.notes.url", "tools.platforms.telegram.use"],
  platforms: ["platforms.telegram.token", "platforms.telegram.groups", "platforms.webhook.secret"],
  conversations: ["reset.kinds.group.mode", "reset.platforms.telegram.mode", "busy.platforms.telegram"],
  retention: ["retention.platforms.telegram", "retention.kinds.group"],
};

export const settings = {
  title: "Settings",
  menu: "Sections",
  back: "Back to the sections",
  search: "Find a setting",
  found: "Found",
  none: { title: "No setting by that name", text: "Try another word, or a part of one." },
  file: (path: string) => `Changes are saved to ${path} and take effect immediately.`,
  reload: "Reload the file",
  reloaded: "The file was reloaded.",
  saved: "Saved.",
  discard: "Discard",
  changes: (many: number) => (many === 1 ? "1 unsaved change" : `${many} unsaved changes`),
  asBefore: "Undo the change",
  toDefault: "Reset to default",
  defaultIs: (value: string) => `Default: ${value}.`,
  noDefault: "Not set by default.",
  mustBe: (what: string) => `It must be ${what}.`,
  afterRestart: "Takes effect after a restart.",
  atMachine: "This can only be changed on the machine itself:",
  overridden: (place: string) => `Set by ${place}, which overrides the file.`,
  origins: {
    default: () => "",
    file: () => "From the file.",
    variable: (place: string) => `From the variable ${place}.`,
    option: (place: string) => `From the option ${place}.`,
  },
  on: "on",
  off: "off",
  empty: "Not set",
  removed: "Will be removed when you save.",
  noValue: "This value is not valid.",
  secretHelp: "Stored in a file that only its owner can read, and never shown.",
  secretSet: (value: string) =>
    value.startsWith("env:") ? `Taken from the variable ${value.slice(4)}` : "Already set. Enter a new one to change it.",
  failed: (table: string) => `${table} was not changed`,
  restart: (keys: string) => `These take effect after a restart: ${keys}.`,
  choices,
  add: {
    open: "Add a setting",
    title: "Add a setting",
    key: "Name",
    keyHelp: "Its parts separated by dots, such as reset.kinds.group.mode.",
    value: "Value",
    valueHelp: "Plain text as is; numbers, lists and tables as JSON.",
    examples,
  },
  sections: {
    agent: ["Agent and model", "Who answers, and with which model."],
    tools: ["Tools", "What the agent may use, and what needs approval first."],
    platforms: ["Platforms", "Where people can write, besides this app."],
    conversations: ["Conversations and resets", "When a new one starts, and what happens in between."],
    access: ["Access", "Who may write to the agent on platforms."],
    spend: ["Spending", "Spending limits. When one is reached, no model is called."],
    retention: ["Retention", "How long conversations are kept. Kept forever if nothing is set."],
    server: ["Server", "Where it listens, and how much it does at once."],
    appearance: ["Appearance", "How the app looks, in this browser only."],
    account: ["Your account", "How you log in, and where you are logged in."],
    accounts: ["Accounts", "Who else may use this app."],
    audit: ["Audit log", "What was done to accounts, tokens, settings and people."],
  } as const,
  connect: "Connect Telegram",
  connectModel: "Connect a model",
  noPlatform: "No platform is connected yet.",
  theme: "Theme",
};

/** Return the name of a setting; one that is not known is called after its key. */
export function getSettingName(key: string): string {
  // Policies of a kind, a platform or a profile have the same settings as the ones for all.
  const usual = key
    .replace(/^reset\.(kinds|platforms)\.[^.]+\./, "reset.default.")
    .replace(/^(sharing|tools)\.platforms\.[^.]+\./, "$1.")
    .replace(/^profiles\.[^.]+\.(agent|tools)\./, "$1.")
    .replace(/^(providers|mcp|platforms)\.[^.]+\./, "$1.*.");
  return SETTING_NAMES[usual] ?? sentence(key.split(".").at(-1) ?? key);
}

/** Call a table by its name; those of one platform, provider or the like have its name in theirs. */
export function getTableName(table: string): string {
  const [, first = "", name = "", rest = ""] =
    /^(providers|platforms|mcp|profiles|\w+\.(?:kinds|platforms|origins))(?:\.([^.]+))?(?:\.(.+))?$/.exec(table) ?? [];
  const made = first ? within[first]?.(name) : undefined;
  return tables[table] ?? (made ? [made, rest].filter(Boolean).join(", ") : sentence(table.replaceAll(".", ", ")));
}

function sentence(name: string): string {
  const plain = name.replaceAll("_", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
