// The one connection to the server: who is here, what can be asked, and what is heard.

import { Client, CSRF, Problem } from "../api/client.ts";
import type { Delta, FeedEvent } from "../api/feed.ts";
import type { Me, ProfileShape } from "../api/schema.ts";
import { Following } from "./following.ts";

/** How well the server is reached. */
export type Reach = "asking" | "here" | "away" | "gone";

/** What somebody wants to hear; each may be left out. */
export interface Ear {
  onEvent?: (event: FeedEvent) => void;
  onDelta?: (delta: Delta) => void;
  /** Something was missed, or the profile changed: read anew whatever is shown. */
  onReload?: () => void;
  /** The connection is there again after it was away: what could not be read for want of it can be read now. */
  onBack?: () => void;
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
  readonly #following = new Following({
    addressOf: (query) => this.client.address("/api/feed", { query: { ...query } }),
    listener: {
      onOpen: () => this.#arrive(),
      onEvent: (event) => this.#tell((ear) => ear.onEvent?.(event)),
      onDelta: (delta) => this.#tell((ear) => ear.onDelta?.(delta)),
      onReload: () => this.#tell((ear) => ear.onReload?.()),
      onBye: (why) => why === "logged out" && this.#doubt(),
      onAway: (isRefused) => this.#lose(isRefused),
    },
    onReturn: () => this.#doubt(),
  });
  /** Whose page this is; they may have left. */
  #account: number | null = null;
  /** Nothing was heard for a while. */
  #wasAway = false;

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
      if (!this.#meet(me.data)) return;
      this.profiles = profiles.data.items;
      this.profile = this.#remembered() ?? this.profile;
      await this.#turnTo(this.profile);
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.leave();
      else [this.reach, this.#wasAway] = ["away", true];
      throw error;
    }
  }

  /** Look at another profile: everything that is shown is read anew. */
  async choose(profile: string): Promise<void> {
    await this.#turnTo(profile);
    localStorage.setItem("profile", profile);
    this.#tell((ear) => ear.onReload?.());
  }

  /** A session that is not in this profile may be in another one, where a link leads: then that one is looked at. */
  async lookFor(id: string): Promise<void> {
    const { data } = await this.client.call("read_session", { path: { id } });
    const isKnown = this.profiles.some(({ name }) => name === data.profile);
    if (isKnown && data.profile !== this.profile) await this.choose(data.profile);
  }

  /** Hear what happens until the answer is called. */
  hear(ear: Ear): () => void {
    this.#ears.add(ear);
    return () => void this.#ears.delete(ear);
  }

  /** Hear these sessions word by word, from now on. */
  listenTo(sessions: readonly string[]): void {
    this.#following.listenTo(sessions);
  }

  /** What changes something wants the word of the login; if another tab has logged in since, that is another one. */
  async freshWord(stale: string): Promise<string | null> {
    try {
      const { data } = await this.client.call("read_me");
      return data.csrf !== stale && this.#meet(data) ? data.csrf : null;
    } catch {
      return null;
    }
  }

  /** Nobody is logged in here any more: the door is shown, and behind it is where one was. */
  leave(): void {
    this.#following.end();
    [this.reach, this.me] = ["gone", null];
  }

  /** Ask the server, and notice whether its store works: what can be read may still not be kept. */
  async #ask(...given: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...given);
    const isReading = (given[1]?.method ?? "GET") === "GET";
    if (response.status === 503) this.broken = isReading ? "reading" : "keeping";
    else if (response.ok && (!isReading || this.broken === "reading")) this.broken = null;
    return response.status === 403 && !isReading ? await this.#askAnew(response, ...given) : response;
  }

  async #askAnew(refused: Response, ...[where, how]: Parameters<typeof fetch>): Promise<Response> {
    const headers = new Headers(how?.headers);
    const stale = headers.get(CSRF);
    const fresh = stale === null ? null : await this.freshWord(stale);
    if (fresh === null) return refused;
    headers.set(CSRF, fresh);
    return await fetch(where, { ...how, headers });
  }

  /** Know who is here; whoever is somebody else begins with an empty page. */
  #meet(me: Me): boolean {
    const isKnown = this.#account === null || this.#account === me.account.key;
    if (isKnown) [this.me, this.#account] = [me, me.account.key];
    else location.assign("/");
    return isKnown;
  }

  async #turnTo(profile: string): Promise<void> {
    const { data } = await this.client.call("read_state", { query: { profile } });
    this.profile = profile;
    if (!this.#following.begin(profile, data.cursor)) this.#arrive();
  }

  #arrive(): void {
    const isBack = this.#wasAway;
    [this.reach, this.#wasAway] = ["here", false];
    if (isBack) this.#tell((ear) => ear.onBack?.());
  }

  /** A browser comes back by itself, but not to a server that refused: that may be the login. */
  #lose(isRefused: boolean): void {
    if (this.reach === "gone") return;
    [this.reach, this.#wasAway] = ["away", true];
    if (isRefused) setTimeout(() => void this.#comeBack(), AGAIN_MS);
  }

  /** Nobody may be logged in any more, or somebody anew: that is asked before anything else is heard. */
  #doubt(): void {
    this.#following.close();
    this.#wasAway = true;
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    if (this.reach === "gone") return;
    try {
      if (!this.#meet((await this.client.call("read_me")).data)) return;
      if (!this.#following.open()) this.#arrive();
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
