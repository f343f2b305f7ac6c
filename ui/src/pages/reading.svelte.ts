// Something that is read once, and again when the feed names it.

import type { EventKind } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";

export class Reading<Data> {
  /** What was read last; it stays until there is something newer. */
  data = $state.raw<Data | null>(null);
  error = $state.raw<unknown>(null);
  readonly #ask: () => Promise<Data>;
  readonly #kinds: readonly EventKind[];
  #asking = 0;

  constructor(ask: () => Promise<Data>, kinds: readonly EventKind[] = []) {
    [this.#ask, this.#kinds] = [ask, kinds];
  }

  /** Read it, and keep it true until the answer is called. */
  start(): () => void {
    void this.read();
    return hub.hear({
      onEvent: ({ kind }) => this.#kinds.includes(kind) && void this.read(),
      onReload: () => void this.read(),
    });
  }

  /** Read it anew; an answer to an earlier question is of no use. */
  async read(): Promise<void> {
    const asking = ++this.#asking;
    try {
      const data = await this.#ask();
      if (asking === this.#asking) [this.data, this.error] = [data, null];
    } catch (error) {
      if (asking === this.#asking) this.error = error;
    }
  }
}
