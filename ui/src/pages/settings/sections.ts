// The settings in an order that people find things in: sections, and the tables within them.

import type { SettingView } from "../../api/schema.ts";

/** The sections that are made of settings; each has the tables and the single settings named here. */
const TABLES = {
  agent: ["agent", "scribe", "providers", "context"],
  tools: ["tools", "mcp"],
  platforms: ["platforms"],
  conversations: [
    ...["reset", "busy", "sharing", "edits", "people", "streaming", "deliveries"],
    ...["freshness_seconds", "inactivity_minutes", "profile", "profiles", "routing"],
  ],
  access: ["access"],
  spend: ["spend"],
  retention: ["retention"],
  server: ["server", "concurrency", "drain_seconds", "lease_seconds", "database", "logs", "hooks"],
} as const satisfies Record<string, readonly string[]>;

export type Section = keyof typeof TABLES;
export const SECTIONS = Object.keys(TABLES) as Section[];

/** Settings that stand in one table. */
export interface Group {
  /** Its dotted name; empty for settings that stand alone. */
  table: string;
  items: readonly SettingView[];
}

/** Tell in which section a setting is found; what nobody knows yet is with the server. */
export function getSection(key: string): Section {
  const [first = ""] = key.split(".");
  return SECTIONS.find((name) => (TABLES[name] as readonly string[]).includes(first)) ?? "server";
}

/** List the settings of a section, table by table; in the order of the section, not of the file. */
export function listGroups(items: readonly SettingView[], section: Section): Group[] {
  const order: readonly string[] = TABLES[section];
  const place = (key: string): number => (order.indexOf(key.split(".")[0] ?? "") + order.length) % order.length;
  const mine = items.filter(({ key }) => getSection(key) === section);
  return grouped(mine.toSorted((one, other) => place(one.key) - place(other.key)));
}

/** Find settings by words that stand in their name, their key or what they do. */
export function findSettings(items: readonly SettingView[], text: string, getName: (key: string) => string): Group[] {
  const asked = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ key, help }: SettingView): boolean => {
    const said = `${key} ${getName(key)} ${help ?? ""}`.toLowerCase();
    return asked.every((word) => said.includes(word));
  };
  return grouped(items.filter(fits));
}

function grouped(items: readonly SettingView[]): Group[] {
  const tables = new Map<string, SettingView[]>();
  for (const item of items) {
    const table = item.key.split(".").slice(0, -1).join(".");
    const known = tables.get(table);
    if (known) known.push(item);
    else tables.set(table, [item]);
  }
  return [...tables].map(([table, inner]) => ({ table, items: inner }));
}
