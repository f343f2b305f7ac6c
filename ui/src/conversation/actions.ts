// Actions on the open conversation, with their notices. The feed brings the results.

import { createKeyHeader } from "../api/idempotency.ts";
import type { SessionUpdateRequest } from "../api/schema.ts";
import { markUnread as unread, updateSessions } from "../sidebar/actions.ts";
import { app } from "../state/app.svelte.ts";
import { copyText } from "../state/clipboard.ts";
import { notices } from "../state/notices.svelte.ts";
import { getSessionUrl, router } from "../state/router.svelte.ts";
import { strings } from "../strings/index.ts";
import { suggestedText } from "./composer/suggested_text.svelte.ts";
import type { ConversationState } from "./conversation_store.svelte.ts";

const labels = strings.details.notices;

/** What must be known of a session to change it. */
export type SessionRef = Pick<ConversationState, "id" | "row">;

/** Copy the address of a line. */
export function copyLink({ id }: SessionRef, seq: number): void {
  if (id !== null) void copyText(location.origin + getSessionUrl(id, seq), strings.conversation.linkCopied);
}

/** Begin a session that shares everything up to a line, and go there. */
export async function branchSession(conversation: ConversationState, seq: number): Promise<boolean> {
  return await withId(conversation, async (id) => {
    const { data } = await app.client.call("branch_session", { path: { id, seq }, header: createKeyHeader(), body: {} });
    router.navigate(getSessionUrl(data.id));
  });
}

/** Say a line differently, in a branch, and go there. */
export async function editMessage(conversation: ConversationState, seq: number, text: string): Promise<boolean> {
  return await withId(conversation, async (id) => {
    const { data } = await app.client.call("edit_message", { path: { id, seq }, header: createKeyHeader(), body: { text } });
    router.navigate(getSessionUrl(data.session.id));
  });
}

/** Take the last turn back, and offer its words to be said differently. */
export async function undoTurn(conversation: ConversationState): Promise<boolean> {
  return await withId(conversation, async (id) => {
    const { data } = await app.client.call("undo_turns", { path: { id }, header: createKeyHeader(), body: { turns: 1 } });
    suggestedText.suggest(id, data.texts.join("\n\n"));
    notices.show(labels.undone(data.turns), () => void redoTurn(conversation), strings.details.menuItems.redo);
  });
}

export async function redoTurn(conversation: ConversationState): Promise<boolean> {
  return await withId(conversation, async (id) => {
    await app.client.call("redo_turns", { path: { id }, header: createKeyHeader() });
    suggestedText.suggest(id, "");
    notices.show(labels.redone);
  });
}

export async function retryTurn(conversation: ConversationState): Promise<boolean> {
  return await withId(conversation, (id) => app.client.call("retry_turn", { path: { id }, header: createKeyHeader() }));
}

export async function setPinned({ id }: SessionRef, isPinned: boolean): Promise<boolean> {
  return id !== null && (await updateSessions([id], isPinned ? "pin" : "unpin"));
}

export async function setArchived({ id }: SessionRef, isArchived: boolean): Promise<boolean> {
  return id !== null && (await updateSessions([id], isArchived ? "archive" : "unarchive"));
}

export async function markUnread({ id }: SessionRef): Promise<boolean> {
  return id !== null && (await unread([id]));
}

/** Answer the people yourself, or let the agent do so again. */
export async function setTakenOver(conversation: SessionRef, isTaken: boolean): Promise<boolean> {
  return await withId(conversation, async (id) => {
    await app.client.call(isTaken ? "take_over" : "hand_back", { path: { id } });
    notices.show(isTaken ? labels.taken : labels.handedBack);
  });
}

export async function endSession(conversation: ConversationState): Promise<boolean> {
  return await withId(conversation, async (id) => {
    await app.client.call("end_session", { path: { id } });
    notices.show(labels.ended);
  });
}

/** Change what nobody else's change could be lost by. */
export async function updateSession(conversation: ConversationState, body: SessionUpdateRequest): Promise<boolean> {
  return await withId(conversation, (id) =>
    app.client.call("change_session", { path: { id }, header: { "If-Match": "*" }, body }),
  );
}

/** Rename a session, unless another person renamed it since it was seen; returns whether it has the title now. */
export async function renameSession(conversation: SessionRef, title: string): Promise<boolean> {
  const before = conversation.row?.session.title ?? null;
  let isTaken = false;
  const isDone = await withId(conversation, async (id) => {
    const { data: now, etag } = await app.client.call("read_session", { path: { id } });
    isTaken = now.titled_by === "person" && now.title !== before;
    if (isTaken) notices.show(strings.details.renamed(now.title ?? strings.details.untitled));
    else await app.client.call("change_session", { path: { id }, header: { "If-Match": etag }, body: { title } });
  });
  return isDone && !isTaken;
}

async function withId(conversation: SessionRef, what: (id: string) => Promise<unknown>): Promise<boolean> {
  const { id } = conversation;
  return id !== null && (await notices.attempt(() => what(id)));
}
