// The session list: loaded page by page; afterwards only the rows that events name are loaded again.

import { Problem } from "../api/client.ts";
import type { SessionRowView } from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";
import { screen } from "../state/screen.svelte.ts";
import { mergeRows, NO_FILTER, type SessionFilter } from "./session_filters.ts";

const PAGE_SIZE = 100;
const MAX_PAGE = 200;
const BATCH_MS = 100;
/** How long rows wait that are not known to belong to the list of a person: that takes a whole reading. */
const PERSON_RELOAD_MS = 3000;
/** After so long a server that could not answer is asked again, unless it says when. */
const RETRY_S = 5;

export class SessionList {
  all = $state.raw<readonly SessionRowView[]>([]);
  filter = $state.raw<SessionFilter>(NO_FILTER);
  isLoading = $state(true);
  error = $state.raw<unknown>(null);
  /** The platforms of everything that was ever in the list. */
  platforms = $state.raw<ReadonlySet<string>>(new Set());

  #nextCursor = $state.raw<string | null>(null);
  #stale = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #reloadTimer: ReturnType<typeof setTimeout> | null = null;
  /** What is asked for now; an answer to an earlier question is of no use. */
  #requestNumber = 0;
  #isReloading = false;
  #isRefreshing = false;
  #isLoadingMore = false;
  /** Whose rows these are. */
  #profile = app.profile;

  /** Show the list, and keep it true until the answer is called. */
  start(): () => void {
    void this.load();
    return app.subscribe({
      onEvent: ({ session_id }) => session_id && this.refresh(session_id),
      onReload: () => void this.load(),
      onReconnect: () => this.#handleReconnect(),
    });
  }

  get(id: string): SessionRowView | undefined {
    return this.all.find(({ session }) => session.id === id);
  }

  get hasMore(): boolean {
    return this.#nextCursor !== null;
  }

  get isUnfiltered(): boolean {
    return this.filter === NO_FILTER;
  }

  /** Show something else. */
  setFilter(change: Partial<SessionFilter>): void {
    this.filter = Object.keys(change).length === 0 ? NO_FILTER : { ...NO_FILTER, ...change };
    [this.all, this.#nextCursor, this.error] = [[], null, null];
    void this.load();
  }

  /** Read as much anew as is shown; what stands there stays until the new is there. */
  async load(): Promise<void> {
    const requestNumber = ++this.#requestNumber;
    if (this.#profile !== app.profile) this.#clear();
    const extent = this.all.length;
    this.isLoading = this.#isReloading = true;
    try {
      const items: SessionRowView[] = [];
      let next: string | null = null;
      do {
        const { data } = await this.#fetchPage(next, Math.min(Math.max(PAGE_SIZE, extent - items.length), MAX_PAGE));
        if (requestNumber !== this.#requestNumber) return;
        items.push(...withoutKnown(data.items, items));
        next = data.next ?? null;
      } while (next !== null && items.length < extent);
      [this.all, this.#nextCursor, this.error] = [items, next, null];
      this.#collectPlatforms(items);
    } catch (error) {
      if (requestNumber === this.#requestNumber) this.error = error;
    } finally {
      if (requestNumber === this.#requestNumber) this.isLoading = this.#isReloading = false;
      this.#scheduleRefresh();
    }
  }

  /** Read the page that follows, once, however often it is asked for meanwhile. */
  async loadMore(): Promise<void> {
    if (this.#nextCursor === null || this.#isLoadingMore) return;
    const requestNumber = this.#requestNumber;
    this.#isLoadingMore = true;
    try {
      const { data } = await this.#fetchPage(this.#nextCursor, PAGE_SIZE);
      if (requestNumber !== this.#requestNumber) return;
      this.all = [...this.all, ...withoutKnown(data.items, this.all)];
      [this.#nextCursor, this.error] = [data.next ?? null, null];
      this.#collectPlatforms(data.items);
    } catch (error) {
      if (requestNumber === this.#requestNumber) this.error = error;
    } finally {
      this.#isLoadingMore = false;
    }
  }

  /** Something happened to a session: look at its row again, together with others. */
  refresh(id: string): void {
    this.#stale.add(id);
    this.#scheduleRefresh();
  }

  /** Show a change before the server has confirmed it; `refresh` tells the truth afterwards. */
  applyOptimistic(ids: readonly string[], change: Partial<SessionRowView["session"]>): void {
    const changed = ids.flatMap((id) => {
      const row = this.get(id);
      return row ? [{ ...row, session: { ...row.session, ...change } }] : [];
    });
    this.all = mergeRows(this.all, new Set(ids), changed, this.filter, this.hasMore);
  }

  /** One reading at a time: else the answer that comes last would count, and not what was asked last. */
  #scheduleRefresh(ms = BATCH_MS): void {
    const isHeld = this.#timer !== null || this.#isReloading || this.#isRefreshing;
    if (isHeld || this.#stale.size === 0 || (this.error !== null && this.all.length === 0)) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#refreshStale();
    }, ms);
  }

  async #refreshStale(): Promise<void> {
    const ids = this.#isReloading ? [] : this.#takeStale();
    if (ids.length === 0) return;
    const requestNumber = this.#requestNumber;
    this.#isRefreshing = true;
    let pause: number | null = BATCH_MS;
    try {
      const query = { profile: app.profile, device: screen.device, ids };
      const { data } = await app.client.call("list_sessions", { query });
      // A list that is being read meanwhile may have been read before this happened.
      if (requestNumber !== this.#requestNumber) return ids.forEach((id) => this.#stale.add(id));
      this.all = mergeRows(this.all, new Set(ids), data.items, this.filter, this.hasMore);
      this.#collectPlatforms(data.items);
    } catch (error) {
      if (isPermanentError(error)) return;
      for (const id of ids) this.#stale.add(id);
      // Without a connection they wait until it is back.
      pause = error instanceof Problem ? 1000 * Math.max(1, error.retryAfter ?? RETRY_S) : null;
    } finally {
      this.#isRefreshing = false;
      if (pause !== null) this.#scheduleRefresh(pause);
    }
  }

  /** Take what is to be looked at again now. */
  #takeStale(): string[] {
    const all = [...this.#stale];
    // Only the server knows who took part.
    const known = this.filter.person === null ? all : all.filter((id) => this.get(id));
    if (known.length < all.length) this.#reloadTimer ??= setTimeout(() => this.#reloadForPerson(), PERSON_RELOAD_MS);
    const ids = known.slice(0, MAX_PAGE);
    this.#stale = new Set(known.slice(MAX_PAGE));
    return ids;
  }

  #reloadForPerson(): void {
    this.#reloadTimer = null;
    if (this.filter.person !== null) void this.load();
  }

  /** The server is back: read what could not be read without it. */
  #handleReconnect(): void {
    if (this.error !== null) void this.load();
    else this.#scheduleRefresh();
  }

  /** Nothing of one profile is shown in another. */
  #clear(): void {
    this.#profile = app.profile;
    this.#stale.clear();
    [this.all, this.#nextCursor, this.error] = [[], null, null];
    [this.filter, this.platforms] = [NO_FILTER, new Set()];
  }

  #collectPlatforms(items: readonly SessionRowView[]): void {
    const fresh = items.map(({ session }) => session.platform).filter((name) => !this.platforms.has(name));
    if (fresh.length > 0) this.platforms = new Set([...this.platforms, ...fresh]);
  }

  #fetchPage(after: string | null, most: number) {
    const { shelf, platform, project, person, isUnread } = this.filter;
    const query = { profile: app.profile, device: screen.device, after, most, shelf, platform, project, person };
    return app.client.call("list_sessions", { query: { ...query, is_unread: isUnread || null } });
  }
}

/** Tell whether asking again would help nothing. */
function isPermanentError(error: unknown): boolean {
  return error instanceof Problem && error.status < 500 && error.status !== 429;
}

/** Leave out what is known already: a row may move from one page to the next while both are read. */
function withoutKnown(items: readonly SessionRowView[], known: readonly SessionRowView[]): SessionRowView[] {
  const ids = new Set(known.map(({ session }) => session.id));
  return items.filter(({ session }) => !ids.has(session.id));
}

export const sessionList = new SessionList();
