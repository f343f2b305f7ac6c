// The one connection to the server: who is here, what can be asked, and what is heard.

import { Client, Problem } from "../api/client.ts";
import { follow, type Delta, type FeedEvent } from "../api/feed.ts";
import type { Me, ProfileShape } from "../api/schema.ts";

/** How well the server is reached. */
export type Reach = "asking" | "here" | "away" | "gone";

/** What somebody wants to hear; each may be left out. */
export interface Ear {
  onEvent?: (event: FeedEvent) => void;
  onDelta?: (delta: Delta) => void;
  /** Something was missed, or the profile changed: read anew whatever is shown. */
  onReload?: () => void;
}

const AGAIN_MS = 2000;

export class Hub {
  me = $state.raw<Me | null>(null);
  profiles = $state.raw<readonly ProfileShape[]>([]);
  profile = $state("main");
  reach = $state<Reach>("asking");
  /** What the store could not do when it was last asked to. */
  broken = $state<"reading" | "keeping" | null>(null);

  readonly client = new Client({ csrf: () => this.me?.csrf ?? null, fetch: (...given) => this.#ask(...given) });
  readonly #ears = new Set<Ear>();
  #cursor: string | null = null;
  #live: readonly string[] = [];
  #hangUp: (() => void) | null = null;

  get isOwner(): boolean {
    return this.me?.account.role === "owner";
  }

  /** Learn who is here, then follow everything; to nobody the door is shown. */
  async start(): Promise<void> {
    try {
      const [me, profiles] = await Promise.all([
        this.client.call("read_me"),
        this.client.call("list_profiles"),
      ]);
      this.me = me.data;
      this.profiles = profiles.data.items;
      this.profile = this.#remembered() ?? this.profile;
      await this.#begin();
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.leave();
      else this.reach = "away";
      throw error;
    }
  }

  /** Look at another profile: everything that is shown is read anew. */
  async choose(profile: string): Promise<void> {
    this.profile = profile;
    localStorage.setItem("profile", profile);
    await this.#begin();
    this.#tell((ear) => ear.onReload?.());
  }

  /** Hear what happens until the answer is called. */
  hear(ear: Ear): () => void {
    this.#ears.add(ear);
    return () => void this.#ears.delete(ear);
  }

  /** Hear these sessions word by word, from now on. */
  listenTo(sessions: readonly string[]): void {
    if (String(sessions) === String(this.#live)) return;
    this.#live = sessions;
    if (this.#cursor !== null) this.#follow();
  }

  /** Nobody is logged in here any more: the door is shown, and behind it is where one was. */
  leave(): void {
    this.#hangUp?.();
    [this.reach, this.me, this.#cursor] = ["gone", null, null];
  }

  /** Ask the server, and notice whether its store works: what can be read may still not be kept. */
  async #ask(...given: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...given);
    const isReading = (given[1]?.method ?? "GET") === "GET";
    if (response.status === 503) this.broken = isReading ? "reading" : "keeping";
    else if (response.ok && (!isReading || this.broken === "reading")) this.broken = null;
    return response;
  }

  async #begin(): Promise<void> {
    const { data } = await this.client.call("read_state", { query: { profile: this.profile } });
    this.#cursor = data.cursor;
    this.#follow();
  }

  #follow(): void {
    this.#hangUp?.();
    const query = { profile: this.profile, after: this.#cursor, live: [...this.#live] };
    this.#hangUp = follow(this.client.address("/api/feed", { query }), {
      onPlace: (cursor) => (this.#cursor = cursor),
      onOpen: () => (this.reach = "here"),
      onEvent: (event) => this.#tell((ear) => ear.onEvent?.(event)),
      onDelta: (delta) => this.#tell((ear) => ear.onDelta?.(delta)),
      onReload: () => this.#tell((ear) => ear.onReload?.()),
      onBye: (why) => {
        if (why === "logged out") this.leave();
      },
      onAway: (isRefused) => this.#lose(isRefused),
    });
  }

  /** A browser comes back by itself, but not to a server that refused: that may be the login. */
  #lose(isRefused: boolean): void {
    if (this.reach === "gone") return;
    this.reach = "away";
    if (isRefused) setTimeout(() => void this.#comeBack(), AGAIN_MS);
  }

  async #comeBack(): Promise<void> {
    try {
      this.me = (await this.client.call("read_me")).data;
      this.#follow();
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.leave();
      else this.#lose(true);
    }
  }

  #remembered(): string | null {
    const name = localStorage.getItem("profile");
    const main = this.profiles.find((profile) => profile.is_main) ?? this.profiles[0];
    return this.profiles.find((profile) => profile.name === name)?.name ?? main?.name ?? null;
  }

  #tell(say: (ear: Ear) => void): void {
    for (const ear of [...this.#ears]) say(ear);
  }
}

export const hub = new Hub();
