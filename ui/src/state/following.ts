// The feed of this page: followed while somebody looks at it, put down while nobody does, and taken up where it was.
//
// A browser opens only a few connections to a server, over all its tabs: one that is not seen must not hold one.

import { follow, type Listener } from "../api/feed.ts";

/** What is followed: everything of a profile from a place on, and some sessions word by word. */
export interface Followed {
  profile: string;
  after: string | null;
  live: readonly string[];
}

export interface Ways {
  /** Where the feed is. */
  addressOf: (followed: Followed) => string;
  listener: Listener;
  /** Somebody looks again at what was put down: `open` takes it up. */
  onReturn: () => void;
}

/** Whoever is back so soon finds everything as it was. */
const PATIENCE_MS = 5000;

export class Following {
  readonly #ways: Ways;
  #followed: Followed | null = null;
  #live: readonly string[] = [];
  #hangUp: (() => void) | null = null;
  #isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWatching = false;

  constructor(ways: Ways) {
    this.#ways = ways;
  }

  /** Follow a profile from a place on; answers as `open` does. */
  begin(profile: string, after: string | null): boolean {
    this.#followed = { profile, after, live: this.#live };
    if (!this.#isWatching) document.addEventListener("visibilitychange", () => this.#turn());
    this.#isWatching = true;
    return this.open();
  }

  /** Hear these sessions word by word, from now on. */
  listenTo(live: readonly string[]): void {
    if (String(live) === String(this.#live)) return;
    this.#live = live;
    if (this.#followed) this.#followed.live = live;
    this.open();
  }

  /** Follow from where one was; answers false if that has to wait until somebody looks. */
  open(): boolean {
    this.close();
    const followed = this.#followed;
    if (!followed || document.hidden) return false;
    this.#hangUp = follow(this.#ways.addressOf(followed), {
      ...this.#ways.listener,
      onPlace: (cursor) => (followed.after = cursor),
      onOpen: (data) => {
        this.#isOpen = true;
        if (document.hidden) this.#putDownSoon();
        this.#ways.listener.onOpen?.(data);
      },
      onAway: (isRefused) => {
        this.#isOpen = false;
        this.#ways.listener.onAway?.(isRefused);
      },
    });
    return true;
  }

  /** Put it down. */
  close(): void {
    clearTimeout(this.#timer);
    this.#hangUp?.();
    [this.#hangUp, this.#isOpen] = [null, false];
  }

  /** Follow nothing any more. */
  end(): void {
    this.close();
    this.#followed = null;
  }

  #turn(): void {
    clearTimeout(this.#timer);
    if (document.hidden) this.#putDownSoon();
    else if (this.#followed && !this.#hangUp) this.#ways.onReturn();
  }

  /** While the server is away it is looked for on: words may wait here that are to be sent. */
  #putDownSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#isOpen && this.close(), PATIENCE_MS);
  }
}
