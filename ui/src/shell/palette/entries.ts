// What the palette offers: conversations, messages, commands, pages and settings.

import type { HitView, SessionRowView, SettingShape, SnippetView, TitleHitView } from "../../api/schema.ts";
import type { Command } from "../../conversation/composer/commands.ts";
import { offers } from "../../conversation/composer/offers.svelte.ts";
import type { IconName } from "../../design/icons.ts";
import { sectionOf } from "../../pages/settings/sections.ts";
import { addressOfHit } from "../../sidebar/hits.ts";
import { waysToPages } from "../../sidebar/places.ts";
import { addressOf, place } from "../../state/place.svelte.ts";
import { screen, THEMES } from "../../state/screen.svelte.ts";
import { words } from "../../words/index.ts";
import { nameOf } from "../../words/settings.ts";
import { palette } from "../palette.svelte.ts";
import type { Fitting } from "./ranking.ts";

export interface Entry extends Fitting {
  icon: IconName;
  /** Where it takes place; its glyph stands for the icon. */
  platform?: string;
  /** What is told of it in small, beside or below. */
  hint?: string;
  snippet?: SnippetView;
  at?: string;
  run: () => void;
}

const said = words.palette;

/** List what the app itself can do, and its pages. */
export function appEntries(): Entry[] {
  return [
    command("new", said.begin, "edit", () => place.go("/?new")),
    command("keys", said.keys, "help", palette.showKeys),
    ...THEMES.map((theme) => {
      const label = said.theme(words.sidebar.themes[theme]);
      return command(`theme ${theme}`, label, "sun", () => screen.choose(theme));
    }),
    ...waysToPages().map(({ name, ...way }): Entry => ({ ...way, key: `page ${name}`, kind: "page" })),
  ];
}

/** List the settings; each leads to where it is changed. */
export function settingEntries(items: readonly SettingShape[]): Entry[] {
  return items.map(({ key }) => {
    const [label, meaning] = nameOf(key);
    const run = (): void => place.go(`/settings/${sectionOf(key)}`);
    const also = `${key.replace(/[._]/g, " ")} ${meaning}`;
    return { key: `setting ${key}`, kind: "setting", label, also, hint: key, icon: "settings", run };
  });
}

/** List the commands of a conversation; each is put where one writes, to be finished and sent. */
export function orderEntries(session: string, commands: readonly Command[]): Entry[] {
  return commands.map(({ name, arguments: more, help }) => ({
    key: `order ${name}`,
    kind: "command",
    label: `/${name} ${more}`.trim(),
    also: help,
    hint: help,
    icon: "code",
    run: () => offers.give(session, `/${name} `),
  }));
}

export function rowEntry({ session, last_words }: SessionRowView): Entry {
  return {
    ...conversation(session.id, session.title ?? words.details.untitled, session.last_activity_at),
    platform: session.platform,
    ...(last_words ? { hint: last_words } : {}),
  };
}

export function titleEntry({ session_id, title, last_activity_at }: TitleHitView): Entry {
  return { ...conversation(session_id, title.text, last_activity_at), snippet: title };
}

export function hitEntry({ session_id, seq, title, snippet, at }: HitView, text: string): Entry {
  return {
    key: `${session_id}#${seq}`,
    kind: "message",
    label: title ?? words.details.untitled,
    icon: "search",
    snippet,
    at,
    run: () => place.go(addressOfHit(session_id, seq, text)),
  };
}

function conversation(id: string, label: string, at: string): Entry {
  return { key: id, kind: "conversation", label, icon: "chat", at, run: () => place.go(addressOf(id)) };
}

function command(key: string, label: string, icon: IconName, run: () => void): Entry {
  return { key: `command ${key}`, kind: "command", label, icon, run };
}
