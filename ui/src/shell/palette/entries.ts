// The entries of the palette: conversations, messages, commands, pages and settings.

import type { HitView, SessionRowView, SettingView, SnippetView, TitleHitView } from "../../api/schema.ts";
import type { Command } from "../../conversation/composer/commands.ts";
import { suggestedText } from "../../conversation/composer/suggested_text.svelte.ts";
import type { IconName } from "../../design/icons.ts";
import { getSection } from "../../pages/settings/sections.ts";
import { listPageLinks } from "../../sidebar/page_links.ts";
import { getHitUrl, getSessionUrl, router } from "../../state/router.svelte.ts";
import { theme, THEMES } from "../../state/theme.svelte.ts";
import { strings } from "../../strings/index.ts";
import { getSettingName } from "../../strings/settings.ts";
import { palette } from "../palette.svelte.ts";
import type { RankedItem } from "./ranking.ts";

export interface Entry extends RankedItem {
  icon: IconName;
  /** Where it takes place; its glyph stands for the icon. */
  platform?: string;
  /** What is told of it in small, beside or below. */
  hint?: string;
  snippet?: SnippetView;
  at?: string;
  run: () => void;
}

const labels = strings.palette;

/** List what the app itself can do, and its pages. */
export function listAppEntries(): Entry[] {
  return [
    command("new", labels.begin, "edit", () => router.navigate("/?new")),
    command("keys", labels.keys, "help", palette.showKeys),
    ...THEMES.map((name) => {
      const label = labels.theme(strings.sidebar.themes[name]);
      return command(`theme ${name}`, label, "sun", () => theme.set(name));
    }),
    ...listPageLinks().map(({ name, ...way }): Entry => ({ ...way, key: `page ${name}`, kind: "page" })),
  ];
}

/** List the settings; each leads to where it is changed. */
export function listSettingEntries(items: readonly SettingView[]): Entry[] {
  return items.map(({ key, help }) => {
    const label = getSettingName(key);
    const run = (): void => router.navigate(`/settings/${getSection(key)}`);
    const also = `${key.replace(/[._]/g, " ")} ${help ?? ""}`;
    return { key: `setting ${key}`, kind: "setting", label, also, hint: key, icon: "settings", run };
  });
}

/** List the commands of a conversation; each is put where one writes, to be finished and sent. */
export function listCommandEntries(session: string, commands: readonly Command[]): Entry[] {
  return commands.map(({ name, arguments: more, help }) => ({
    key: `order ${name}`,
    kind: "command",
    label: `/${name} ${more}`.trim(),
    also: help,
    hint: help,
    icon: "code",
    run: () => suggestedText.suggest(session, `/${name} `),
  }));
}

export function createRowEntry({ session, last_words }: SessionRowView): Entry {
  return {
    ...conversation(session.id, session.title ?? strings.details.untitled, session.last_activity_at),
    platform: session.platform,
    ...(last_words ? { hint: last_words } : {}),
  };
}

export function createTitleEntry({ session_id, title, last_activity_at }: TitleHitView): Entry {
  return { ...conversation(session_id, title.text, last_activity_at), snippet: title };
}

export function createHitEntry({ session_id, seq, title, snippet, at }: HitView, text: string): Entry {
  return {
    key: `${session_id}#${seq}`,
    kind: "message",
    label: title ?? strings.details.untitled,
    icon: "search",
    snippet,
    at,
    run: () => router.navigate(getHitUrl(session_id, seq, text)),
  };
}

function conversation(id: string, label: string, at: string): Entry {
  return { key: id, kind: "conversation", label, icon: "chat", at, run: () => router.navigate(getSessionUrl(id)) };
}

function command(key: string, label: string, icon: IconName, run: () => void): Entry {
  return { key: `command ${key}`, kind: "command", label, icon, run };
}
