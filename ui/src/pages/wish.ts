// Something to be made once, however often it has to be asked for.

import { once } from "../api/once.ts";

export class Wish {
  #asked = "";
  #header = once();

  /**
   * Take the key of what is asked for: an answer may have been lost on its way, so the same wish goes out
   * under the same key. Another one needs another.
   */
  header(...asked: readonly unknown[]): { "Idempotency-Key": string } {
    const written = JSON.stringify(asked);
    if (written !== this.#asked) [this.#asked, this.#header] = [written, once()];
    return this.#header;
  }
}
