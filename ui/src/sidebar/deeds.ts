// What can be done with conversations, one or many: shown at once in the list, told, and undone where that goes.

import { Problem } from "../api/client.ts";
import type { BatchWish, OutcomeView, SessionRowView } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { place } from "../state/place.svelte.ts";
import { words } from "../words/index.ts";
import { rows } from "./rows.svelte.ts";

type Deed = "pin" | "unpin" | "archive" | "unarchive";
type Change = Partial<SessionRowView["session"]>;

/** The server takes so many at once. */
const MOST = 200;
const said = words.sidebar.said;
const BACK: Record<Deed, Deed> = { pin: "unpin", unpin: "pin", archive: "unarchive", unarchive: "archive" };

/** Pin or archive, or take that back; answers whether that was done with all of them. */
export async function arrange(ids: readonly string[], action: Deed, isUndone = false): Promise<boolean> {
  const done = await carryOut(ids, { action }, imagined(action));
  const back = isUndone ? null : (): void => void arrange(done, BACK[action], true);
  if (done.length > 0) notices.tell(said[action](done.length), back);
  return done.length === ids.length;
}

/** Put conversations into a project, or out of the ones that they are in: each of them can be put back. */
export async function move(ids: readonly string[], project: number | null, name: string): Promise<boolean> {
  const before = new Map(ids.map((id) => [id, rows.get(id)?.session.project]));
  const done = await carryOut(ids, { action: "move", project }, { project });
  const known = done.filter((id) => before.get(id) !== undefined);
  const back = known.length === done.length ? (): void => void putBack(known, before) : null;
  const told = project === null ? said.movedOut(done.length) : said.moved(done.length, name);
  if (done.length > 0) notices.tell(told, back);
  return done.length === ids.length;
}

async function putBack(ids: readonly string[], before: ReadonlyMap<string, number | null | undefined>): Promise<void> {
  for (const project of new Set(ids.map((id) => before.get(id) ?? null))) {
    const some = ids.filter((id) => (before.get(id) ?? null) === project);
    await carryOut(some, { action: "move", project }, { project });
  }
}

export async function markRead(ids: readonly string[]): Promise<void> {
  const done = await carryOut(ids, { action: "read" });
  if (done.length > 0) notices.tell(said.read(done.length));
}

/** Let the last line of each be unread again; whoever went on looking at one would read it. */
export async function markUnread(ids: readonly string[]): Promise<boolean> {
  leave(ids);
  const isDone = await notices.attempt(async () => {
    for (const id of ids) await hub.client.call("mark_unread", { path: { id } });
  });
  if (isDone) notices.tell(said.unread(ids.length));
  return isDone;
}

/** Delete for good. */
export async function forget(ids: readonly string[]): Promise<boolean> {
  const done = await carryOut(ids, { action: "forget" });
  leave(done);
  if (done.length > 0) notices.tell(said.forgotten(done.length));
  return done.length === ids.length;
}

function leave(ids: readonly string[]): void {
  if (place.session !== null && ids.includes(place.session)) place.go("/");
}

function imagined(action: Deed): Change {
  const now = new Date().toISOString();
  if (action === "pin" || action === "unpin") return { pinned_at: action === "pin" ? now : null };
  return { archived_at: action === "archive" ? now : null };
}

/** Do the same with all of them, and tell of those with which it cannot be done; answers the others. */
async function carryOut(ids: readonly string[], wish: Omit<BatchWish, "ids">, change?: Change): Promise<string[]> {
  if (change) rows.imagine(ids, change);
  const outcomes: OutcomeView[] = [];
  try {
    for (let at = 0; at < ids.length; at += MOST) {
      const body = { ...wish, ids: ids.slice(at, at + MOST) };
      outcomes.push(...(await hub.client.call("arrange_sessions", { body })).data.outcomes);
    }
  } catch (error) {
    notices.fail(error);
  }
  const failed = outcomes.filter(({ error }) => error !== null);
  const first = failed[0];
  if (first) notices.fail(new Problem(409, "", said.failed(failed.length, ids.length), first.id, first.error));
  // What was only imagined is put right, also if no event tells of it.
  for (const id of ids) rows.touch(id);
  return outcomes.filter(({ error }) => error === null).map(({ id }) => id);
}
