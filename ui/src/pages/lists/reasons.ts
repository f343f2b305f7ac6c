// What went wrong, as a page tells it: what, and what to do.

import { Problem } from "../../api/client.ts";
import { words } from "../../words/index.ts";

/** Say what went wrong. */
export function whatOf(error: unknown): string {
  return error instanceof Problem ? error.message : words.common.unreachable;
}

/** Say what to do about it. */
export function hintOf(error: unknown): string | null {
  return error instanceof Problem ? error.hint : words.common.unreachableHint;
}

/** Say both in one line, for below a field. */
export function reasonOf(error: unknown): string {
  return [whatOf(error), hintOf(error)].filter(Boolean).join(". ");
}
