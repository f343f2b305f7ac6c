// What went wrong, as it is told: what, and what to do about it.

import { Problem } from "../api/client.ts";
import { words } from "../words/index.ts";

/** Say what went wrong. */
export function whatOf(error: unknown): string {
  return error instanceof Problem ? error.message : words.common.unreachable;
}

/** Say what to do about it; what only reads is read again by itself, a deed is not done again. */
export function hintOf(error: unknown, isReading = false): string | null {
  if (error instanceof Problem) return error.hint;
  return isReading ? words.common.readAgain : words.common.doAgain;
}

/** Say both in one line, for below a field. */
export function reasonOf(error: unknown): string {
  const hint = hintOf(error);
  return hint ? `${whatOf(error).replace(/\.$/, "")}. ${hint}` : whatOf(error);
}
