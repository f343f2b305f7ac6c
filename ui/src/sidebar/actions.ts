// Actions on one or many sessions: applied to the list at once, announced, and undone where possible.

import { Problem } from "../api/client.ts";
import type { BatchRequest, BatchOutcomeView, SessionRowView } from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { router } from "../state/router.svelte.ts";
import { strings } from "../strings/index.ts";
import { sessionList } from "./session_list.svelte.ts";

type SessionAction = "pin" | "unpin" | "archive" | "unarchive";
type Change = Partial<SessionRowView["session"]>;

/** The server takes so many at once. */
const MAX_BATCH = 200;
const labels = strings.sidebar.notices;
const INVERSE: Record<SessionAction, SessionAction> = { pin: "unpin", unpin: "pin", archive: "unarchive", unarchive: "archive" };

/** Pin or archive, or take that back; answers whether that was done with all of them. */
export async function updateSessions(ids: readonly string[], action: SessionAction, isUndone = false): Promise<boolean> {
  const done = await runBatch(ids, { action }, getOptimisticChange(action));
  const back = isUndone ? null : (): void => void updateSessions(done, INVERSE[action], true);
  if (done.length > 0) notices.show(labels[action](done.length), back);
  return done.length === ids.length;
}

/** Put conversations into a project, or out of the ones that they are in: each of them can be put back. */
export async function moveToProject(ids: readonly string[], project: number | null, name: string): Promise<boolean> {
  const before = new Map(ids.map((id) => [id, sessionList.get(id)?.session.project]));
  const done = await runBatch(ids, { action: "move", project }, { project });
  const known = done.filter((id) => before.get(id) !== undefined);
  const back = known.length === done.length ? (): void => void undoMove(known, before) : null;
  const told = project === null ? labels.movedOut(done.length) : labels.moved(done.length, name);
  if (done.length > 0) notices.show(told, back);
  return done.length === ids.length;
}

async function undoMove(ids: readonly string[], before: ReadonlyMap<string, number | null | undefined>): Promise<void> {
  for (const project of new Set(ids.map((id) => before.get(id) ?? null))) {
    const some = ids.filter((id) => (before.get(id) ?? null) === project);
    await runBatch(some, { action: "move", project }, { project });
  }
}

export async function markRead(ids: readonly string[]): Promise<void> {
  const done = await runBatch(ids, { action: "read" });
  if (done.length > 0) notices.show(labels.read(done.length));
}

/** Let the last line of each be unread again; whoever went on looking at one would read it. */
export async function markUnread(ids: readonly string[]): Promise<boolean> {
  leaveSessions(ids);
  const isDone = await notices.attempt(async () => {
    for (const id of ids) await app.client.call("mark_unread", { path: { id } });
  });
  if (isDone) notices.show(labels.unread(ids.length));
  return isDone;
}

/** Delete for good. */
export async function deleteSessions(ids: readonly string[]): Promise<boolean> {
  const done = await runBatch(ids, { action: "forget" });
  leaveSessions(done);
  if (done.length > 0) notices.show(labels.forgotten(done.length));
  return done.length === ids.length;
}

function leaveSessions(ids: readonly string[]): void {
  if (router.session !== null && ids.includes(router.session)) router.navigate("/");
}

function getOptimisticChange(action: SessionAction): Change {
  const now = new Date().toISOString();
  if (action === "pin" || action === "unpin") return { pinned_at: action === "pin" ? now : null };
  return { archived_at: action === "archive" ? now : null };
}

/** Do the same with all of them, and tell of those with which it cannot be done; answers the others. */
async function runBatch(ids: readonly string[], batch: Omit<BatchRequest, "ids">, change?: Change): Promise<string[]> {
  if (change) sessionList.applyOptimistic(ids, change);
  const outcomes: BatchOutcomeView[] = [];
  try {
    for (let at = 0; at < ids.length; at += MAX_BATCH) {
      const body = { ...batch, ids: ids.slice(at, at + MAX_BATCH) };
      outcomes.push(...(await app.client.call("arrange_sessions", { body })).data.outcomes);
    }
  } catch (error) {
    notices.showError(error);
  }
  const failed = outcomes.filter(({ error }) => error !== null);
  const first = failed[0];
  if (first) notices.showError(new Problem(409, "", labels.failed(failed.length, ids.length), first.id, first.error));
  // What was only imagined is put right, also if no event tells of it.
  for (const id of ids) sessionList.refresh(id);
  return outcomes.filter(({ error }) => error === null).map(({ id }) => id);
}
