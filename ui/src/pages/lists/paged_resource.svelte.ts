// A list that is loaded page by page.

import { Resource, type RefreshEvents } from "../resource.svelte.ts";

export interface ListPage<Item> {
  items: readonly Item[];
  next?: string | null;
}

/** Ask for a portion: where it begins (null: at the beginning), and how much at the most. */
export type FetchPage<Item> = (after: string | null, most: number) => Promise<{ data: ListPage<Item> }>;

const PAGE_SIZE = 50;
/** The most that a server answers at once. */
const MAX_PAGE = 200;

export class PagedResource<Item> extends Resource<readonly Item[]> {
  isBusy = $state(false);
  #hasMore = $state(false);
  /** How many are to be shown. */
  #shownCount: number;
  readonly #pageSize: number;

  constructor(fetchPage: FetchPage<Item>, refreshEvents?: RefreshEvents, { pause, pageSize = PAGE_SIZE }: { pause?: number; pageSize?: number } = {}) {
    super(async () => {
      const found: Item[] = [];
      let next: string | null = null;
      do {
        const { data } = await fetchPage(next, Math.min(this.#shownCount - found.length, MAX_PAGE));
        found.push(...data.items);
        next = data.next ?? null;
      } while (next !== null && found.length < this.#shownCount);
      this.#hasMore = next !== null;
      return found;
    }, refreshEvents, pause);
    this.#pageSize = this.#shownCount = pageSize;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Show what comes after, too. All is read anew: something new may have pushed each line further. */
  async showMore(): Promise<void> {
    if (!this.#hasMore || this.isBusy) return;
    this.isBusy = true;
    this.#shownCount = (this.data?.length ?? 0) + this.#pageSize;
    await this.read();
    this.isBusy = false;
  }
}
