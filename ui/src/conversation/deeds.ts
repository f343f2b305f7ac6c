// What can be done with a conversation, and what is told of it. The feed brings what came of it.

import { once } from "../api/once.ts";
import type { SessionChange } from "../api/schema.ts";
import { arrange, markUnread as unread } from "../sidebar/deeds.ts";
import { copy } from "../state/copying.ts";
import { hub } from "../state/hub.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { addressOf, place } from "../state/place.svelte.ts";
import { words } from "../words/index.ts";
import { offers } from "./composer/offers.svelte.ts";
import type { TalkState } from "./talk.svelte.ts";

const said = words.details.said;

/** What must be known of a session to change it. */
export type Subject = Pick<TalkState, "id" | "row">;

/** Copy the address of a line. */
export function copyLink({ id }: Subject, seq: number): void {
  if (id !== null) void copy(location.origin + addressOf(id, seq), words.conversation.linkCopied);
}

/** Begin a session that shares everything up to a line, and go there. */
export async function branch(talk: TalkState, seq: number): Promise<boolean> {
  return await withId(talk, async (id) => {
    const { data } = await hub.client.call("branch_session", { path: { id, seq }, header: once(), body: {} });
    place.go(addressOf(data.id));
  });
}

/** Say a line differently, in a branch, and go there. */
export async function edit(talk: TalkState, seq: number, text: string): Promise<boolean> {
  return await withId(talk, async (id) => {
    const { data } = await hub.client.call("edit_message", { path: { id, seq }, header: once(), body: { text } });
    place.go(addressOf(data.session.id));
  });
}

/** Take the last turn back, and offer its words to be said differently. */
export async function undo(talk: TalkState): Promise<boolean> {
  return await withId(talk, async (id) => {
    const { data } = await hub.client.call("undo_turns", { path: { id }, header: once(), body: { turns: 1 } });
    offers.give(id, data.texts.join("\n\n"));
    notices.tell(said.undone(data.turns), () => void redo(talk), words.details.menuItems.redo);
  });
}

export async function redo(talk: TalkState): Promise<boolean> {
  return await withId(talk, async (id) => {
    await hub.client.call("redo_turns", { path: { id }, header: once() });
    offers.give(id, "");
    notices.tell(said.redone);
  });
}

export async function retry(talk: TalkState): Promise<boolean> {
  return await withId(talk, (id) => hub.client.call("retry_turn", { path: { id }, header: once() }));
}

export async function pin({ id }: Subject, isPinned: boolean): Promise<boolean> {
  return id !== null && (await arrange([id], isPinned ? "pin" : "unpin"));
}

export async function archive({ id }: Subject, isArchived: boolean): Promise<boolean> {
  return id !== null && (await arrange([id], isArchived ? "archive" : "unarchive"));
}

export async function markUnread({ id }: Subject): Promise<boolean> {
  return id !== null && (await unread([id]));
}

/** Answer the people yourself, or let the agent do so again. */
export async function takeOver(talk: Subject, isTaken: boolean): Promise<boolean> {
  return await withId(talk, async (id) => {
    await hub.client.call(isTaken ? "take_over" : "hand_back", { path: { id } });
    notices.tell(isTaken ? said.taken : said.handedBack);
  });
}

export async function end(talk: TalkState): Promise<boolean> {
  return await withId(talk, async (id) => {
    await hub.client.call("end_session", { path: { id } });
    notices.tell(said.ended);
  });
}

/** Change what nobody else's change could be lost by. */
export async function change(talk: TalkState, body: SessionChange): Promise<boolean> {
  return await withId(talk, (id) =>
    hub.client.call("change_session", { path: { id }, header: { "If-Match": "*" }, body }),
  );
}

/** Rename a session, unless another person renamed it since it was seen; returns whether it has the title now. */
export async function rename(talk: Subject, title: string): Promise<boolean> {
  const before = talk.row?.session.title ?? null;
  let isTaken = false;
  const isDone = await withId(talk, async (id) => {
    const { data: now, etag } = await hub.client.call("read_session", { path: { id } });
    isTaken = now.titled_by === "person" && now.title !== before;
    if (isTaken) notices.tell(words.details.renamed(now.title ?? words.details.untitled));
    else await hub.client.call("change_session", { path: { id }, header: { "If-Match": etag }, body: { title } });
  });
  return isDone && !isTaken;
}

async function withId(talk: Subject, what: (id: string) => Promise<unknown>): Promise<boolean> {
  const { id } = talk;
  return id !== null && (await notices.attempt(() => what(id)));
}
