// Idempotency keys: a request that is sent again under its key is carried out once.

/** Return a new key. `randomUUID` is not used: it needs HTTPS, and a page in the local network may not have it. */
export function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}

/** Return the header that carries a new key. */
export function createKeyHeader(): { "Idempotency-Key": string } {
  return { "Idempotency-Key": createKey() };
}

/** A key that stays the same while the same request is sent again. */
export class RetryKey {
  #request = "";
  #header = createKeyHeader();

  /** Return the header of a request. The response to an earlier attempt may be lost, so equal arguments get the same key. */
  header(...args: readonly unknown[]): { "Idempotency-Key": string } {
    const request = JSON.stringify(args);
    if (request !== this.#request) [this.#request, this.#header] = [request, createKeyHeader()];
    return this.#header;
  }
}
