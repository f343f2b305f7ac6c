// Where what was found opens.

import { addressOf } from "../state/place.svelte.ts";

/** Write the address of a line that was found, with all others marked; or of the conversation alone. */
export function addressOfHit(id: string, seq: number | null, text: string): string {
  const [path = "", hash = ""] = addressOf(id, seq).split("#");
  return seq === null ? path : `${path}?q=${encodeURIComponent(text)}#${hash}`;
}
