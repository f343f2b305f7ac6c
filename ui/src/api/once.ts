// Keys under which something is done once, however often it is asked for.

/** Make a key; not by `randomUUID`, which a page that is reached by a bare address at home does not have. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}

/** Make the header that carries such a key. */
export function once(): { "Idempotency-Key": string } {
  return { "Idempotency-Key": newKey() };
}
