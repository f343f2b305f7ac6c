// Errors as they are shown: what happened, and what to do about it.

import { Problem } from "../api/client.ts";
import { strings } from "../strings/index.ts";

/** Say what went wrong. */
export function getErrorText(error: unknown): string {
  return error instanceof Problem ? error.message : strings.common.unreachable;
}

/** Say what to do about it; what only reads is read again by itself, a deed is not done again. */
export function getErrorHint(error: unknown, isReading = false): string | null {
  if (error instanceof Problem) return error.hint;
  return isReading ? strings.common.readAgain : strings.common.doAgain;
}

/** Say both in one line, for below a field. */
export function getErrorSummary(error: unknown): string {
  const hint = getErrorHint(error);
  return hint ? `${getErrorText(error).replace(/\.$/, "")}. ${hint}` : getErrorText(error);
}

/** Return whether the server rejected a request; other errors may pass: it was not reached, or is out of order. */
export function isRejected(error: unknown): error is Problem {
  return error instanceof Problem && error.status < 500;
}
