// The status of a row, the most urgent one, and the sender of its last message.

import type { SessionRowView } from "../api/schema.ts";
import { isLocalPlatform } from "../design/platforms.ts";

export type RowStatusKind = "needs" | "running" | "failed" | "unread" | "draft";

/** Who said something: somebody by name, you yourself, the agent, or nobody that is known. */
export type Speaker = { name: string } | "you" | "agent" | null;

/** Choose the mark of a row. */
export function getRowStatus(row: SessionRowView): RowStatusKind | null {
  if (row.needs_you) return "needs";
  if (row.held === "running" || row.queued > 0) return "running";
  if (row.has_failed_delivery) return "failed";
  if (row.is_unread) return "unread";
  return row.has_draft ? "draft" : null;
}

/** Tell who said the last words of a row, for somebody who is called `me` here. */
export function getLastSpeaker({ last_words, last_speaker, session }: SessionRowView, me: string | null): Speaker {
  if (last_words === null || last_speaker === null) return null;
  const { role, name } = last_speaker;
  // In the agent's place only somebody speaks who is at home here.
  if (role === "assistant" && name !== null) return name === me ? "you" : { name };
  if (role !== "user") return role === "assistant" ? "agent" : null;
  if (isLocalPlatform(session.platform) && (name === null || name === me)) return "you";
  return name === null ? null : { name };
}
