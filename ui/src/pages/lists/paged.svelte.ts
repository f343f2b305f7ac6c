// A list of a page: read as far as it is shown.

import { Reading, type News } from "../reading.svelte.ts";

export interface Portion<Item> {
  items: readonly Item[];
  next?: string | null;
}

/** Ask for a portion: where it begins (null: at the beginning), and how much at the most. */
export type Ask<Item> = (after: string | null, most: number) => Promise<{ data: Portion<Item> }>;

const PORTION = 50;
/** The most that a server answers at once. */
const MOST = 200;

export class Paged<Item> extends Reading<readonly Item[]> {
  isBusy = $state(false);
  #hasMore = $state(false);
  /** How many are to be shown. */
  #extent: number;
  readonly #portion: number;

  constructor(ask: Ask<Item>, news?: News, { pause, portion = PORTION }: { pause?: number; portion?: number } = {}) {
    super(async () => {
      const found: Item[] = [];
      let next: string | null = null;
      do {
        const { data } = await ask(next, Math.min(this.#extent - found.length, MOST));
        found.push(...data.items);
        next = data.next ?? null;
      } while (next !== null && found.length < this.#extent);
      this.#hasMore = next !== null;
      return found;
    }, news, pause);
    this.#portion = this.#extent = portion;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Show what comes after, too. All is read anew: something new may have pushed each line further. */
  async more(): Promise<void> {
    if (!this.#hasMore || this.isBusy) return;
    this.isBusy = true;
    this.#extent = (this.data?.length ?? 0) + this.#portion;
    await this.read();
    this.isBusy = false;
  }
}
