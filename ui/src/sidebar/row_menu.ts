// The menu of a row.

import type { SessionRowView } from "../api/schema.ts";
import type { MenuItem } from "../design/menu_item.ts";
import { getSessionUrl, router } from "../state/router.svelte.ts";
import { strings } from "../strings/index.ts";
import { markRead, markUnread, updateSessions } from "./actions.ts";
import { listDialog } from "./dialogs.svelte.ts";
import { selection } from "./selection.svelte.ts";

const labels = strings.sidebar.choices;

/** Make the lines of the menu. */
export function listRowMenuItems({ session, is_unread }: SessionRowView): (MenuItem | null)[] {
  const ids = [session.id];
  const [isPinned, isArchived] = [session.pinned_at !== null, session.archived_at !== null];
  return [
    { label: labels.open, icon: "chat", run: () => router.navigate(getSessionUrl(session.id)) },
    { label: labels.choose, icon: "check", run: () => selection.toggle(session.id) },
    null,
    { label: labels.rename, icon: "edit", run: () => listDialog.open("rename", ids) },
    isPinned
      ? { label: labels.unpin, icon: "pin", run: () => void updateSessions(ids, "unpin") }
      : { label: labels.pin, icon: "pin", run: () => void updateSessions(ids, "pin") },
    { label: labels.move, icon: "folder", run: () => listDialog.open("move", ids) },
    is_unread
      ? { label: labels.read, icon: "check", run: () => void markRead(ids) }
      : { label: labels.unread, icon: "unread", run: () => void markUnread(ids) },
    isArchived
      ? { label: labels.unarchive, icon: "archive", run: () => void updateSessions(ids, "unarchive") }
      : { label: labels.archive, icon: "archive", run: () => void updateSessions(ids, "archive") },
    null,
    { label: labels.forget, icon: "trash", isDanger: true, run: () => listDialog.open("forget", ids) },
  ];
}
