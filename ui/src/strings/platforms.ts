import type { PlatformState, ServerState, Unit } from "../api/schema.ts";

const states: Readonly<Record<PlatformState, string>> = { connecting: "connecting", up: "up", down: "down" };
const serverStates: Readonly<Record<ServerState, string>> = { idle: "not used yet", up: "up", down: "down" };
const units: Readonly<Record<Unit, string>> = { characters: "characters", utf16: "UTF-16 units", bytes: "bytes" };

export const platforms = {
  title: "Platforms",
  intro: "How conversations come in and answers go out.",
  list: "Platforms here",
  none: { title: "No platform is connected", text: "Connect one, and people can write to the agent from there." },
  connect: "Connect a platform",
  states,
  idle: "not started yet",
  since: "since",
  failed: "Last problem",
  hints: {
    down: "It retries automatically. If this lasts, check its settings; the token may have been revoked.",
    connecting: "It should be ready in a moment.",
  },
  home: "Home chat",
  noHome: "None yet. Send /sethome in a chat to have unprompted messages go there.",
  can: {
    title: "What it can do",
    limit: (limit: number, unit: Unit) => `messages of ${limit.toLocaleString()} ${units[unit]}`,
    files: (size: string) => `files up to ${size}`,
    edits: "streamed answers",
    typing: "shows typing",
    threads: "threads",
    buttons: "buttons",
    not: (what: string) => `no ${what}`,
    replies: "only answers",
    deaf: "only sends",
  },
  gateways: {
    title: "Gateways",
    intro: "Every process that serves this database.",
    none: "None.",
    name: (host: string, pid: number) => `${host}, process ${pid}`,
    silent: "no sign of life for a minute",
    started: "since",
    version: "version",
    server: (name: string, state: string, tools: number) =>
      `MCP server ${name} ${state}, ${tools === 1 ? "1 tool" : `${tools} tools`}`,
    serverStates,
    lastError: "last error",
    load: (queued: number, running: number, owed: number, size: string) =>
      `${queued} waiting · ${running} running · ${owed} to be sent · database of ${size}`,
  },
  lost: {
    title: "Not delivered",
    none: "Everything arrived.",
    owed: "owed",
    attempts: (many: number) => (many === 1 ? "tried once" : `tried ${many} times`),
    doubtful: "it may have been seen already",
    session: "The conversation",
    retry: "Send again",
    retried: "Sending again.",
  },
  dead: {
    title: "Places that cannot be reached",
    intro: "The bot was blocked, or the chat is gone. Nothing is sent there until something arrives from there again.",
    none: "All places can be reached.",
    since: "since",
  },
  kinds: { dm: "direct chat", group: "group", channel: "channel", thread: "thread" },
};
