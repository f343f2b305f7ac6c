// The feed connection of this page: open while the page is visible, closed while it is hidden, and resumed at its cursor.
//
// A browser opens only a few connections to a server, over all its tabs: one that is not seen must not hold one.

import { openFeed, type FeedHandlers } from "../api/feed.ts";

/** What is followed: everything of a profile from a place on, and some sessions word by word. */
export interface FeedRequest {
  profile: string;
  after: string | null;
  live: readonly string[];
}

export interface FeedOptions {
  /** Where the feed is. */
  buildUrl: (request: FeedRequest) => string;
  listener: FeedHandlers;
  /** Somebody looks again at what was put down: `open` takes it up. */
  onReturn: () => void;
}

/** Whoever is back so soon finds everything as it was. */
const PATIENCE_MS = 5000;

export class FeedConnection {
  readonly #options: FeedOptions;
  #request: FeedRequest | null = null;
  #live: readonly string[] = [];
  #close: (() => void) | null = null;
  #isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isObserving = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Follow a profile from a place on; answers as `open` does. */
  start(profile: string, after: string | null): boolean {
    this.#request = { profile, after, live: this.#live };
    if (!this.#isObserving) document.addEventListener("visibilitychange", () => this.#handleVisibility());
    this.#isObserving = true;
    return this.open();
  }

  /** Receive the text of running turns of these sessions. */
  streamSessions(live: readonly string[]): void {
    if (String(live) === String(this.#live)) return;
    this.#live = live;
    if (this.#request) this.#request.live = live;
    this.open();
  }

  /** Follow from where one was; answers false if that has to wait until somebody looks. */
  open(): boolean {
    this.close();
    const request = this.#request;
    if (!request || document.hidden) return false;
    this.#close = openFeed(this.#options.buildUrl(request), {
      ...this.#options.listener,
      onCursor: (cursor) => (request.after = cursor),
      onOpen: (data) => {
        this.#isOpen = true;
        if (document.hidden) this.#closeSoon();
        this.#options.listener.onOpen?.(data);
      },
      onDisconnect: (isRefused) => {
        this.#isOpen = false;
        this.#options.listener.onDisconnect?.(isRefused);
      },
    });
    return true;
  }

  /** Put it down. */
  close(): void {
    clearTimeout(this.#timer);
    this.#close?.();
    [this.#close, this.#isOpen] = [null, false];
  }

  /** Follow nothing any more. */
  end(): void {
    this.close();
    this.#request = null;
  }

  #handleVisibility(): void {
    clearTimeout(this.#timer);
    if (document.hidden) this.#closeSoon();
    else if (this.#request && !this.#close) this.#options.onReturn();
  }

  /** While the server is away it is looked for on: words may wait here that are to be sent. */
  #closeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#isOpen && this.close(), PATIENCE_MS);
  }
}
