// Runs of jobs, as the feed tells of them.

import type { FeedEvent } from "../../api/feed.ts";
import type { RunShape } from "../../api/schema.ts";

/** Tell whether an event is about jobs, or about one of these runs: each goes on in its own conversation. */
export function isNewsOf({ kind, session_id }: FeedEvent, runs: readonly (RunShape | null)[]): boolean {
  if (kind === "job.changed") return true;
  return kind.startsWith("turn.") && session_id !== null && runs.some((run) => run?.session === session_id);
}
