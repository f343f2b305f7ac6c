// Filter and order of the session list, the same as on the server.

import type { SessionRowView, ListSection } from "../api/schema.ts";
import { compareTimes } from "../api/times.ts";

/** What is shown of all conversations; what is null is not asked. */
export interface SessionFilter {
  shelf: ListSection;
  platform: string | null;
  project: number | null;
  person: number | null;
  isUnread: boolean;
}

export const NO_FILTER: SessionFilter = { shelf: "sidebar", platform: null, project: null, person: null, isUnread: false };

/** Read from an address which part of the list it leads to; null: to none. */
export function parseFilter(query: URLSearchParams): Partial<SessionFilter> | null {
  const [project = null, person = null] = ["project", "person"].map((name) => Number(query.get(name)) || null);
  if (project === null && person === null) return null;
  return { project, person, shelf: query.get("shelf") === "scheduled" ? "scheduled" : "sidebar" };
}

/** Tell whether a row that changed belongs to a list; who took part is known to the server only. */
export function matchesFilter(filter: SessionFilter, { session, held, queued, is_unread }: SessionRowView): boolean {
  const isBusy = held !== null || queued > 0 || session.worktree !== null;
  const isEmpty = session.title === null && session.last_seq === 0 && !isBusy;
  const isJob = session.origin === "job";
  const shelf = session.archived_at !== null ? "archived" : isJob ? "scheduled" : "sidebar";
  return (
    shelf === filter.shelf &&
    !isEmpty &&
    (filter.platform === null || session.platform === filter.platform) &&
    (filter.project === null || session.project === filter.project) &&
    (!filter.isUnread || is_unread)
  );
}

/** Order two rows: pinned ones first, then the latest activity. */
export function compareRows({ session: one }: SessionRowView, { session: other }: SessionRowView): number {
  const isPinned = Number(other.pinned_at !== null) - Number(one.pinned_at !== null);
  if (isPinned !== 0) return isPinned;
  return compareTimes(other.last_activity_at, one.last_activity_at) || compareDescending(one.id, other.id);
}

/**
 * Put rows that were read anew into their places.
 *
 * Those that are gone are named in `asked` only. What would stand behind the last row that is loaded
 * is left to the page that follows, unless there is none. Of several continuations of a conversation
 * the latest stands for all.
 */
export function mergeRows(
  known: readonly SessionRowView[],
  asked: ReadonlySet<string>,
  fresh: readonly SessionRowView[],
  filter: SessionFilter,
  hasMore: boolean,
): readonly SessionRowView[] {
  const continued = new Set([...fresh, ...known].map(getContinuedId).filter((id) => id !== null));
  const kept = known.filter(({ session: { id } }) => !asked.has(id) && !continued.has(id));
  const end = known.at(-1);
  const isWithin = (row: SessionRowView): boolean => !hasMore || !end || compareRows(row, end) <= 0;
  const added = fresh.filter((row) => matchesFilter(filter, row) && !continued.has(row.session.id) && isWithin(row));
  if (added.length === 0 && kept.length === known.length) return known;
  for (const row of added) kept.splice(findInsertIndex(kept, row), 0, row);
  return kept;
}

function getContinuedId({ session }: SessionRowView): string | null {
  return session.cause === "continued" ? session.parent_id : null;
}

/** Find where a row belongs among rows that are in order. */
function findInsertIndex(rows: readonly SessionRowView[], row: SessionRowView): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = rows[middle];
    if (other && compareRows(other, row) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareDescending(one: string, other: string): number {
  return one > other ? -1 : one < other ? 1 : 0;
}
