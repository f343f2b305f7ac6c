// What the menu of a row offers.

import type { SessionRowView } from "../api/schema.ts";
import type { Choice } from "../design/choice.ts";
import { addressOf, place } from "../state/place.svelte.ts";
import { words } from "../words/index.ts";
import { asking } from "./asking.svelte.ts";
import { chosen } from "./chosen.svelte.ts";
import { arrange, markRead, markUnread } from "./deeds.ts";

const said = words.sidebar.choices;

/** Make the lines of the menu. */
export function choicesOf({ session, is_unread }: SessionRowView): (Choice | null)[] {
  const ids = [session.id];
  const [isPinned, isArchived] = [session.pinned_at !== null, session.archived_at !== null];
  return [
    { label: said.open, icon: "chat", run: () => place.go(addressOf(session.id)) },
    { label: said.choose, icon: "check", run: () => chosen.toggle(session.id) },
    null,
    { label: said.rename, icon: "edit", run: () => asking.ask("rename", ids) },
    isPinned
      ? { label: said.unpin, icon: "pin", run: () => void arrange(ids, "unpin") }
      : { label: said.pin, icon: "pin", run: () => void arrange(ids, "pin") },
    { label: said.move, icon: "folder", run: () => asking.ask("move", ids) },
    is_unread
      ? { label: said.read, icon: "check", run: () => void markRead(ids) }
      : { label: said.unread, icon: "unread", run: () => void markUnread(ids) },
    isArchived
      ? { label: said.unarchive, icon: "archive", run: () => void arrange(ids, "unarchive") }
      : { label: said.archive, icon: "archive", run: () => void arrange(ids, "archive") },
    null,
    { label: said.forget, icon: "trash", isDanger: true, run: () => asking.ask("forget", ids) },
  ];
}
