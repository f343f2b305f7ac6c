// Data of a page, loaded again when the feed names it.

import type { FeedEvent } from "../api/feed.ts";
import type { EventKind } from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";
import { RequestQueue } from "../state/request_queue.ts";
import { Throttle } from "../state/throttle.ts";

/** In a busy house much happens in a second; nothing is read anew more often than this. */
const PAUSE_MS = 1000;

/** What it is read anew for: events of some kinds, or those that a look at them tells. */
export type RefreshEvents = readonly EventKind[] | ((event: FeedEvent) => boolean);

export class Resource<Data> {
  /** What was read last; it stays until there is something newer. Null: nothing was read yet. */
  data = $state.raw<Data | null>(null);
  error = $state.raw<unknown>(null);
  readonly #fetch: () => Promise<Data>;
  readonly #refreshEvents: RefreshEvents;
  readonly #pause: number;
  // One read at a time: an older answer never comes after a newer one.
  readonly #requests = new RequestQueue((error) => {
    this.error = error;
    return false;
  });

  constructor(fetch: () => Promise<Data>, refreshEvents: RefreshEvents = [], pause = PAUSE_MS) {
    [this.#fetch, this.#refreshEvents, this.#pause] = [fetch, refreshEvents, pause];
  }

  /** Read it, and keep it true until the answer is called: by what happens, and by what was missed. */
  start(): () => void {
    const throttle = new Throttle(() => void this.read(), this.#pause);
    const unsubscribe = app.subscribe({
      onEvent: (event) => this.#isRefreshEvent(event) && throttle.run(),
      onReload: () => void this.read(),
      onReconnect: () => this.error !== null && void this.read(),
    });
    throttle.run();
    return () => {
      unsubscribe();
      throttle.close();
    };
  }

  /** Read it anew; what was read stands there until the new is there. */
  async read(): Promise<void> {
    await this.#requests.run("read", async () => {
      [this.data, this.error] = [await this.#fetch(), null];
    });
  }

  #isRefreshEvent(event: FeedEvent): boolean {
    return typeof this.#refreshEvents === "function" ? this.#refreshEvents(event) : this.#refreshEvents.includes(event.kind);
  }
}
