// The state of the app: the logged-in account, the profile, the API client and the feed.

import { Client, CSRF_HEADER, Problem } from "../api/client.ts";
import type { Delta, FeedEvent } from "../api/feed.ts";
import type { MeView, ProfileView } from "../api/schema.ts";
import { FeedConnection } from "./feed_connection.ts";

/** Whether the server is reached, and somebody is logged in. */
export type ConnectionState = "connecting" | "online" | "offline" | "loggedOut";

/** Callbacks for what the feed brings. */
export interface FeedListener {
  onEvent?: (event: FeedEvent) => void;
  onDelta?: (delta: Delta) => void;
  /** Something was missed, or the profile changed: read anew whatever is shown. */
  onReload?: () => void;
  /** The connection is there again after it was away: what could not be read for want of it can be read now. */
  onReconnect?: () => void;
}

const RETRY_MS = 2000;

export class AppState {
  me = $state.raw<MeView | null>(null);
  profiles = $state.raw<readonly ProfileView[]>([]);
  profile = $state("main");
  connectionState = $state<ConnectionState>("connecting");
  /** What the store could not do when it was last asked to. */
  storageError = $state<"read" | "write" | null>(null);

  readonly client = new Client({ csrf: () => this.me?.csrf ?? null, fetch: (...args) => this.#fetch(...args) });
  readonly #listeners = new Set<FeedListener>();
  readonly #feed = new FeedConnection({
    buildUrl: (query) => this.client.url("/api/feed", { query: { ...query } }),
    listener: {
      onOpen: () => this.#setOnline(),
      onEvent: (event) => this.#notify((listener) => listener.onEvent?.(event)),
      onDelta: (delta) => this.#notify((listener) => listener.onDelta?.(delta)),
      onReload: () => this.#notify((listener) => listener.onReload?.()),
      onEnd: (why) => why === "logged out" && this.#recheckLogin(),
      onDisconnect: (isRefused) => this.#setOffline(isRefused),
    },
    onReturn: () => this.#recheckLogin(),
  });
  /** Whose page this is; they may have left. */
  #account: number | null = null;
  /** Nothing was heard for a while. */
  #wasOffline = false;

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
      if (!this.#setMe(me.data)) return;
      this.profiles = profiles.data.items;
      this.profile = this.#findStoredProfile() ?? this.profile;
      await this.#openProfile(this.profile);
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.markLoggedOut();
      else [this.connectionState, this.#wasOffline] = ["offline", true];
      throw error;
    }
  }

  /** Look at another profile: everything that is shown is read anew. */
  async setProfile(profile: string): Promise<void> {
    await this.#openProfile(profile);
    localStorage.setItem("profile", profile);
    this.#notify((listener) => listener.onReload?.());
  }

  /** A session that is not in this profile may be in another one, where a link leads: then that one is looked at. */
  async openProfileOf(id: string): Promise<void> {
    const { data } = await this.client.call("read_session", { path: { id } });
    const isKnown = this.profiles.some(({ name }) => name === data.profile);
    if (isKnown && data.profile !== this.profile) await this.setProfile(data.profile);
  }

  /** Call the listener for what the feed brings; returns how to unsubscribe. */
  subscribe(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Receive the text of running turns of these sessions. */
  streamSessions(sessions: readonly string[]): void {
    this.#feed.streamSessions(sessions);
  }

  /** What changes something wants the word of the login; if another tab has logged in since, that is another one. */
  async refreshCsrf(stale: string): Promise<string | null> {
    try {
      const { data } = await this.client.call("read_me");
      return data.csrf !== stale && this.#setMe(data) ? data.csrf : null;
    } catch {
      return null;
    }
  }

  /** Nobody is logged in here any more: the door is shown, and behind it is where one was. */
  markLoggedOut(): void {
    this.#feed.end();
    [this.connectionState, this.me] = ["loggedOut", null];
  }

  /** Ask the server, and notice whether its store works: what can be read may still not be kept. */
  async #fetch(...args: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...args);
    const isReading = (args[1]?.method ?? "GET") === "GET";
    if (response.status === 503) this.storageError = isReading ? "read" : "write";
    else if (response.ok && (!isReading || this.storageError === "read")) this.storageError = null;
    return response.status === 403 && !isReading ? await this.#retryWithFreshCsrf(response, ...args) : response;
  }

  async #retryWithFreshCsrf(refused: Response, ...[where, how]: Parameters<typeof fetch>): Promise<Response> {
    const headers = new Headers(how?.headers);
    const stale = headers.get(CSRF_HEADER);
    const fresh = stale === null ? null : await this.refreshCsrf(stale);
    if (fresh === null) return refused;
    headers.set(CSRF_HEADER, fresh);
    return await fetch(where, { ...how, headers });
  }

  /** Know who is here; whoever is somebody else begins with an empty page. */
  #setMe(me: MeView): boolean {
    const isKnown = this.#account === null || this.#account === me.account.key;
    if (isKnown) [this.me, this.#account] = [me, me.account.key];
    else location.assign("/");
    return isKnown;
  }

  async #openProfile(profile: string): Promise<void> {
    const { data } = await this.client.call("read_state", { query: { profile } });
    this.profile = profile;
    if (!this.#feed.start(profile, data.cursor)) this.#setOnline();
  }

  #setOnline(): void {
    const isBack = this.#wasOffline;
    [this.connectionState, this.#wasOffline] = ["online", false];
    if (isBack) this.#notify((listener) => listener.onReconnect?.());
  }

  /** A browser comes back by itself, but not to a server that refused: that may be the login. */
  #setOffline(isRefused: boolean): void {
    if (this.connectionState === "loggedOut") return;
    [this.connectionState, this.#wasOffline] = ["offline", true];
    if (isRefused) setTimeout(() => void this.#reconnect(), RETRY_MS);
  }

  /** Nobody may be logged in any more, or somebody anew: that is asked before anything else is heard. */
  #recheckLogin(): void {
    this.#feed.close();
    this.#wasOffline = true;
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    if (this.connectionState === "loggedOut") return;
    try {
      if (!this.#setMe((await this.client.call("read_me")).data)) return;
      if (!this.#feed.open()) this.#setOnline();
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.markLoggedOut();
      else this.#setOffline(true);
    }
  }

  #findStoredProfile(): string | null {
    const name = localStorage.getItem("profile");
    const main = this.profiles.find((profile) => profile.is_main) ?? this.profiles[0];
    return this.profiles.find((profile) => profile.name === name)?.name ?? main?.name ?? null;
  }

  #notify(call: (listener: FeedListener) => void): void {
    for (const listener of [...this.#listeners]) call(listener);
  }
}

export const app = new AppState();
