// Something that is read, and read anew when the feed names it.

import type { FeedEvent } from "../api/feed.ts";
import type { EventKind } from "../api/schema.ts";
import { Errands } from "../state/errands.ts";
import { hub } from "../state/hub.svelte.ts";
import { Calm } from "./calm.ts";

/** In a busy house much happens in a second; nothing is read anew more often than this. */
const PAUSE_MS = 1000;

/** What it is read anew for: events of some kinds, or those that a look at them tells. */
export type News = readonly EventKind[] | ((event: FeedEvent) => boolean);

export class Reading<Data> {
  /** What was read last; it stays until there is something newer. Null: nothing was read yet. */
  data = $state.raw<Data | null>(null);
  error = $state.raw<unknown>(null);
  readonly #ask: () => Promise<Data>;
  readonly #news: News;
  readonly #pause: number;
  // One read at a time: an older answer never comes after a newer one.
  readonly #errands = new Errands((error) => {
    this.error = error;
    return false;
  });

  constructor(ask: () => Promise<Data>, news: News = [], pause = PAUSE_MS) {
    [this.#ask, this.#news, this.#pause] = [ask, news, pause];
  }

  /** Read it, and keep it true until the answer is called: by what happens, and by what was missed. */
  start(): () => void {
    const calm = new Calm(() => void this.read(), this.#pause);
    const hush = hub.hear({
      onEvent: (event) => this.#isNews(event) && calm.wish(),
      onReload: () => void this.read(),
      onBack: () => this.error !== null && void this.read(),
    });
    calm.wish();
    return () => {
      hush();
      calm.close();
    };
  }

  /** Read it anew; what was read stands there until the new is there. */
  async read(): Promise<void> {
    await this.#errands.want("read", async () => {
      [this.data, this.error] = [await this.#ask(), null];
    });
  }

  #isNews(event: FeedEvent): boolean {
    return typeof this.#news === "function" ? this.#news(event) : this.#news.includes(event.kind);
  }
}
