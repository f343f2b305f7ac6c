// The list of conversations: read page by page, and then only the rows that events name.

import { Problem } from "../api/client.ts";
import type { SessionRowView } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import { screen } from "../state/screen.svelte.ts";
import { EVERYTHING, merge, type Filter } from "./order.ts";

const PAGE = 100;
const MOST = 200;
const GATHER_MS = 100;
/** How long rows wait that are not known to belong to the list of a person: that takes a whole reading. */
const STRANGERS_MS = 3000;
/** After so long a server that could not answer is asked again, unless it says when. */
const AGAIN_S = 5;

export class Rows {
  all = $state.raw<readonly SessionRowView[]>([]);
  filter = $state.raw<Filter>(EVERYTHING);
  isLoading = $state(true);
  error = $state.raw<unknown>(null);
  /** The platforms of everything that was ever in the list. */
  platforms = $state.raw<ReadonlySet<string>>(new Set());

  #next = $state.raw<string | null>(null);
  #touched = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #strangersTimer: ReturnType<typeof setTimeout> | null = null;
  /** What is asked for now; an answer to an earlier question is of no use. */
  #asking = 0;
  #isReading = false;
  #isRefreshing = false;
  #isMoreAsked = false;
  /** Whose rows these are. */
  #profile = hub.profile;

  /** Show the list, and keep it true until the answer is called. */
  start(): () => void {
    void this.read();
    return hub.hear({
      onEvent: ({ session_id }) => session_id && this.touch(session_id),
      onReload: () => void this.read(),
      onBack: () => this.#comeBack(),
    });
  }

  get(id: string): SessionRowView | undefined {
    return this.all.find(({ session }) => session.id === id);
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  get isEverything(): boolean {
    return this.filter === EVERYTHING;
  }

  /** Show something else. */
  choose(change: Partial<Filter>): void {
    this.filter = Object.keys(change).length === 0 ? EVERYTHING : { ...EVERYTHING, ...change };
    [this.all, this.#next, this.error] = [[], null, null];
    void this.read();
  }

  /** Read as much anew as is shown; what stands there stays until the new is there. */
  async read(): Promise<void> {
    const asking = ++this.#asking;
    if (this.#profile !== hub.profile) this.#forget();
    const extent = this.all.length;
    this.isLoading = this.#isReading = true;
    try {
      const items: SessionRowView[] = [];
      let next: string | null = null;
      do {
        const { data } = await this.#page(next, Math.min(Math.max(PAGE, extent - items.length), MOST));
        if (asking !== this.#asking) return;
        items.push(...unknown(data.items, items));
        next = data.next ?? null;
      } while (next !== null && items.length < extent);
      [this.all, this.#next, this.error] = [items, next, null];
      this.#meet(items);
    } catch (error) {
      if (asking === this.#asking) this.error = error;
    } finally {
      if (asking === this.#asking) this.isLoading = this.#isReading = false;
      this.#refreshSoon();
    }
  }

  /** Read the page that follows, once, however often it is asked for meanwhile. */
  async more(): Promise<void> {
    if (this.#next === null || this.#isMoreAsked) return;
    const asking = this.#asking;
    this.#isMoreAsked = true;
    try {
      const { data } = await this.#page(this.#next, PAGE);
      if (asking !== this.#asking) return;
      this.all = [...this.all, ...unknown(data.items, this.all)];
      [this.#next, this.error] = [data.next ?? null, null];
      this.#meet(data.items);
    } catch (error) {
      if (asking === this.#asking) this.error = error;
    } finally {
      this.#isMoreAsked = false;
    }
  }

  /** Something happened to a session: look at its row again, together with others. */
  touch(id: string): void {
    this.#touched.add(id);
    this.#refreshSoon();
  }

  /** Show a change before the server has confirmed it; `touch` tells the truth afterwards. */
  imagine(ids: readonly string[], change: Partial<SessionRowView["session"]>): void {
    const imagined = ids.flatMap((id) => {
      const row = this.get(id);
      return row ? [{ ...row, session: { ...row.session, ...change } }] : [];
    });
    this.all = merge(this.all, new Set(ids), imagined, this.filter, this.hasMore);
  }

  /** One reading at a time: else the answer that comes last would count, and not what was asked last. */
  #refreshSoon(ms = GATHER_MS): void {
    const isHeld = this.#timer !== null || this.#isReading || this.#isRefreshing;
    if (isHeld || this.#touched.size === 0 || (this.error !== null && this.all.length === 0)) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#refresh();
    }, ms);
  }

  async #refresh(): Promise<void> {
    const ids = this.#isReading ? [] : this.#take();
    if (ids.length === 0) return;
    const asking = this.#asking;
    this.#isRefreshing = true;
    let pause: number | null = GATHER_MS;
    try {
      const query = { profile: hub.profile, device: screen.device, ids };
      const { data } = await hub.client.call("list_sessions", { query });
      // A list that is being read meanwhile may have been read before this happened.
      if (asking !== this.#asking) return ids.forEach((id) => this.#touched.add(id));
      this.all = merge(this.all, new Set(ids), data.items, this.filter, this.hasMore);
      this.#meet(data.items);
    } catch (error) {
      if (isRefused(error)) return;
      for (const id of ids) this.#touched.add(id);
      // Without a connection they wait until it is back.
      pause = error instanceof Problem ? 1000 * Math.max(1, error.retryAfter ?? AGAIN_S) : null;
    } finally {
      this.#isRefreshing = false;
      if (pause !== null) this.#refreshSoon(pause);
    }
  }

  /** Take what is to be looked at again now. */
  #take(): string[] {
    const all = [...this.#touched];
    // Only the server knows who took part.
    const known = this.filter.person === null ? all : all.filter((id) => this.get(id));
    if (known.length < all.length) this.#strangersTimer ??= setTimeout(() => this.#readStrangers(), STRANGERS_MS);
    const ids = known.slice(0, MOST);
    this.#touched = new Set(known.slice(MOST));
    return ids;
  }

  #readStrangers(): void {
    this.#strangersTimer = null;
    if (this.filter.person !== null) void this.read();
  }

  /** The server is back: read what could not be read without it. */
  #comeBack(): void {
    if (this.error !== null) void this.read();
    else this.#refreshSoon();
  }

  /** Nothing of one profile is shown in another. */
  #forget(): void {
    this.#profile = hub.profile;
    this.#touched.clear();
    [this.all, this.#next, this.error] = [[], null, null];
    [this.filter, this.platforms] = [EVERYTHING, new Set()];
  }

  #meet(items: readonly SessionRowView[]): void {
    const fresh = items.map(({ session }) => session.platform).filter((name) => !this.platforms.has(name));
    if (fresh.length > 0) this.platforms = new Set([...this.platforms, ...fresh]);
  }

  #page(after: string | null, most: number) {
    const { shelf, platform, project, person, isUnread } = this.filter;
    const query = { profile: hub.profile, device: screen.device, after, most, shelf, platform, project, person };
    return hub.client.call("list_sessions", { query: { ...query, is_unread: isUnread || null } });
  }
}

/** Tell whether asking again would help nothing. */
function isRefused(error: unknown): boolean {
  return error instanceof Problem && error.status < 500 && error.status !== 429;
}

/** Leave out what is known already: a row may move from one page to the next while both are read. */
function unknown(items: readonly SessionRowView[], known: readonly SessionRowView[]): SessionRowView[] {
  const ids = new Set(known.map(({ session }) => session.id));
  return items.filter(({ session }) => !ids.has(session.id));
}

export const rows = new Rows();
