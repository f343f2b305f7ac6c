// The search while typing: the last query wins, and pages are loaded on scroll.

import type { FoundView, HitView, TitleHitView } from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";

const PAUSE_MS = 120;
const PAGE = 30;

/** Asks for a page of what is found. */
export type FetchHits = (text: string, after: string | null, signal: AbortSignal) => Promise<FoundView>;

export class Search {
  text = $state("");
  titles = $state.raw<readonly TitleHitView[]>([]);
  hits = $state.raw<readonly HitView[]>([]);
  /** False while much is still to be indexed. */
  isComplete = $state(true);
  isSearching = $state(false);
  error = $state.raw<unknown>(null);
  /** What the answer that is shown was asked with. */
  answeredQuery = $state("");

  #nextCursor: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | null = null;
  #isLoadingMore = false;
  readonly #fetchHits: FetchHits;

  constructor(page: FetchHits = fetchHits) {
    this.#fetchHits = page;
  }

  /** Look for something else; what was found before stands until there is an answer. */
  setQuery(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    this.#abort?.abort();
    if (text.trim() === "") return this.#clear();
    this.isSearching = true;
    this.#timer = setTimeout(() => void this.#search(text.trim()), PAUSE_MS);
  }

  clear(): void {
    this.setQuery("");
  }

  /** Go on where it failed. */
  async retry(): Promise<void> {
    const text = this.text.trim();
    if (text === this.answeredQuery) return await this.loadMore();
    this.isSearching = true;
    await this.#search(text);
  }

  /** Read the page that follows. */
  async loadMore(): Promise<void> {
    const { answeredQuery } = this;
    if (this.#nextCursor === null || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    try {
      const found = await this.#fetchHits(answeredQuery, this.#nextCursor, new AbortController().signal);
      if (answeredQuery !== this.answeredQuery) return;
      // What came in meanwhile moves everything behind it to a later page.
      const known = new Set(this.hits.map(({ key }) => key));
      this.hits = [...this.hits, ...found.items.filter(({ key }) => !known.has(key))];
      [this.#nextCursor, this.error] = [found.next, null];
    } catch (error) {
      if (answeredQuery === this.answeredQuery) this.error = error;
    } finally {
      this.#isLoadingMore = false;
    }
  }

  async #search(text: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const found = await this.#fetchHits(text, null, abort.signal);
      if (abort.signal.aborted) return;
      [this.titles, this.hits, this.isComplete] = [found.sessions, found.items, found.is_complete];
      [this.#nextCursor, this.answeredQuery, this.error] = [found.next, text, null];
    } catch (error) {
      if (!abort.signal.aborted) [this.error, this.answeredQuery, this.titles, this.hits] = [error, "", [], []];
    } finally {
      if (!abort.signal.aborted) this.isSearching = false;
    }
  }

  #clear(): void {
    [this.titles, this.hits, this.isComplete, this.isSearching] = [[], [], true, false];
    [this.#nextCursor, this.answeredQuery, this.error] = [null, "", null];
  }
}

async function fetchHits(text: string, after: string | null, signal: AbortSignal): Promise<FoundView> {
  const query = { text, is_typing: true, profile: app.profile, after, most: PAGE };
  return (await app.client.call("find_messages", { query, signal })).data;
}

/** The search of the sidebar. */
export const search = new Search();
