// The list of conversations: read page by page, and then only the rows that events name.

import { Problem } from "../api/client.ts";
import type { SessionRowView } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import { screen } from "../state/screen.svelte.ts";
import { EVERYTHING, merge, type Filter } from "./order.ts";

const PAGE = 100;
const MOST = 200;
const GATHER_MS = 100;

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
  /** What is asked for now; an answer to an earlier question is of no use. */
  #asking = 0;
  #isMoreAsked = false;

  /** Show the list, and keep it true until the answer is called. */
  start(): () => void {
    void this.read();
    return hub.hear({
      onEvent: ({ session_id }) => session_id && this.touch(session_id),
      onReload: () => void this.read(),
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
    [this.all, this.#next] = [[], null];
    void this.read();
  }

  /** Read as much anew as is shown; what stands there stays until the new is there. */
  async read(): Promise<void> {
    const asking = ++this.#asking;
    const extent = this.all.length;
    this.isLoading = true;
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
      if (asking === this.#asking) this.isLoading = false;
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
    this.#timer ??= setTimeout(() => void this.#refresh(), GATHER_MS);
  }

  /** The server is back: read what could not be read without it. */
  comeBack(): void {
    if (this.error !== null) void this.read();
    else if (this.#touched.size > 0) this.#timer ??= setTimeout(() => void this.#refresh(), GATHER_MS);
  }

  /** Show a change before the server has confirmed it; `touch` tells the truth afterwards. */
  imagine(ids: readonly string[], change: Partial<SessionRowView["session"]>): void {
    const imagined = ids.flatMap((id) => {
      const row = this.get(id);
      return row ? [{ ...row, session: { ...row.session, ...change } }] : [];
    });
    this.all = merge(this.all, new Set(ids), imagined, this.filter, this.hasMore);
  }

  async #refresh(): Promise<void> {
    this.#timer = null;
    const ids = [...this.#touched].slice(0, MOST);
    for (const id of ids) this.#touched.delete(id);
    if (this.#touched.size > 0) this.#timer = setTimeout(() => void this.#refresh(), GATHER_MS);
    // Only the server knows who took part.
    if (this.filter.person !== null) return await this.read();
    const asking = this.#asking;
    try {
      const query = { profile: hub.profile, device: screen.device, ids };
      const { data } = await hub.client.call("list_sessions", { query });
      // A list that is being read meanwhile may have been read before this happened.
      if (asking !== this.#asking) return ids.forEach((id) => this.touch(id));
      this.all = merge(this.all, new Set(ids), data.items, this.filter, this.hasMore);
      this.#meet(data.items);
    } catch (error) {
      // The connection is away: they are read once it is back.
      if (!(error instanceof Problem)) for (const id of ids) this.#touched.add(id);
    }
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

/** Leave out what is known already: a row may move from one page to the next while both are read. */
function unknown(items: readonly SessionRowView[], known: readonly SessionRowView[]): SessionRowView[] {
  const ids = new Set(known.map(({ session }) => session.id));
  return items.filter(({ session }) => !ids.has(session.id));
}

export const rows = new Rows();
