// A search as somebody types: the last question wins, and pages follow as they are scrolled to.

import type { FoundView, HitView, TitleHitView } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";

const PAUSE_MS = 120;
const PAGE = 30;

/** Asks for a page of what is found. */
export type Ask = (text: string, after: string | null, signal: AbortSignal) => Promise<FoundView>;

export class Finding {
  text = $state("");
  titles = $state.raw<readonly TitleHitView[]>([]);
  hits = $state.raw<readonly HitView[]>([]);
  /** False while much is still to be indexed. */
  isComplete = $state(true);
  isAsking = $state(false);
  error = $state.raw<unknown>(null);
  /** What the answer that is shown was asked with. */
  answered = $state("");

  #next: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stop: AbortController | null = null;
  #isMoreAsked = false;
  readonly #page: Ask;

  constructor(page: Ask = ask) {
    this.#page = page;
  }

  /** Look for something else; what was found before stands until there is an answer. */
  look(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    this.#stop?.abort();
    if (text.trim() === "") return this.#forget();
    this.isAsking = true;
    this.#timer = setTimeout(() => void this.#ask(text.trim()), PAUSE_MS);
  }

  clear(): void {
    this.look("");
  }

  /** Go on where it failed. */
  async again(): Promise<void> {
    const text = this.text.trim();
    if (text === this.answered) return await this.more();
    this.isAsking = true;
    await this.#ask(text);
  }

  /** Read the page that follows. */
  async more(): Promise<void> {
    const { answered } = this;
    if (this.#next === null || this.#isMoreAsked) return;
    this.#isMoreAsked = true;
    try {
      const found = await this.#page(answered, this.#next, new AbortController().signal);
      if (answered !== this.answered) return;
      // What came in meanwhile moves everything behind it to a later page.
      const known = new Set(this.hits.map(({ key }) => key));
      this.hits = [...this.hits, ...found.items.filter(({ key }) => !known.has(key))];
      [this.#next, this.error] = [found.next, null];
    } catch (error) {
      if (answered === this.answered) this.error = error;
    } finally {
      this.#isMoreAsked = false;
    }
  }

  async #ask(text: string): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const found = await this.#page(text, null, stop.signal);
      if (stop.signal.aborted) return;
      [this.titles, this.hits, this.isComplete] = [found.sessions, found.items, found.is_complete];
      [this.#next, this.answered, this.error] = [found.next, text, null];
    } catch (error) {
      if (!stop.signal.aborted) [this.error, this.answered, this.titles, this.hits] = [error, "", [], []];
    } finally {
      if (!stop.signal.aborted) this.isAsking = false;
    }
  }

  #forget(): void {
    [this.titles, this.hits, this.isComplete, this.isAsking] = [[], [], true, false];
    [this.#next, this.answered, this.error] = [null, "", null];
  }
}

async function ask(text: string, after: string | null, signal: AbortSignal): Promise<FoundView> {
  const query = { text, is_typing: true, profile: hub.profile, after, most: PAGE };
  return (await hub.client.call("find_messages", { query, signal })).data;
}

/** The search of the sidebar. */
export const finding = new Finding();
