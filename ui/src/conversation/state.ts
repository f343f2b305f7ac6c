// What of the open conversation may be read by whoever shows a piece of it.

import type { CutView, LineageView, MessageView, QueuedView, SessionRowView, TurnView } from "../api/schema.ts";
import type { Pending } from "./outbox.svelte.ts";
import type { Speaking } from "./speech.ts";

export interface TalkState {
  /** Null: a conversation that begins with its first words. */
  readonly id: string | null;
  readonly row: SessionRowView | null;
  /** The loaded lines in order; what was undone or retried only if `isHiddenShown`. */
  readonly lines: readonly MessageView[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  readonly lastSeq: number;
  readonly cuts: readonly CutView[];
  readonly turns: ReadonlyMap<number, TurnView>;
  readonly lineage: LineageView | null;
  readonly queue: readonly QueuedView[];
  readonly pending: readonly Pending[];
  readonly speaking: Speaking | null;
  /** The turn under way: it runs, or waits for an answer (`state`). */
  readonly held: TurnView | null;
  readonly isLoading: boolean;
  readonly error: unknown;
}
