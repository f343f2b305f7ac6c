// A list of a page: read as far as it is shown, and anew when something is heard of it.

import type { EventKind } from "../../api/schema.ts";
import { Errands } from "../../conversation/errands.ts";
import { hub } from "../../state/hub.svelte.ts";
import { Calm } from "./calm.ts";

export interface Portion<Item> {
  items: readonly Item[];
  next?: string | null;
}

/** Ask for a portion: where it begins (null: at the beginning), and how much at the most. */
export type Ask<Item> = (after: string | null, most: number) => Promise<{ data: Portion<Item> }>;

const PORTION = 50;
/** In a busy house much happens in a second; a page is read anew no more often than this. */
const PAUSE_MS = 1000;

export class Paged<Item> {
  /** Null: nothing was read yet. */
  items = $state.raw<readonly Item[] | null>(null);
  error = $state.raw<unknown>(null);
  isBusy = $state(false);
  #next = $state<string | null>(null);
  readonly #ask: Ask<Item>;
  readonly #errands = new Errands((error) => {
    this.error = error;
    return false;
  });

  constructor(ask: Ask<Item>) {
    this.#ask = ask;
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  /** Read what is shown anew; it stands there until the new is there. */
  async read(): Promise<void> {
    await this.#errands.want("read", async () => {
      const wanted = this.items?.length ?? 0;
      const found: Item[] = [];
      let next: string | null = null;
      do {
        const { data } = await this.#ask(next, PORTION);
        found.push(...data.items);
        next = data.next ?? null;
      } while (next !== null && found.length < wanted);
      [this.items, this.#next, this.error] = [found, next, null];
    });
  }

  /** Read what comes after. */
  async more(): Promise<void> {
    if (this.#next === null || this.isBusy) return;
    this.isBusy = true;
    await this.#errands.want("read", async () => {
      const { data } = await this.#ask(this.#next, PORTION);
      [this.items, this.#next] = [[...(this.items ?? []), ...data.items], data.next ?? null];
    });
    this.isBusy = false;
  }
}

/** Read something now, soon after one of these things happened, and after something was missed. */
export function keep(read: () => unknown, ...kinds: readonly EventKind[]): () => void {
  const calm = new Calm(read, PAUSE_MS);
  const hush = hub.hear({ onEvent: ({ kind }) => kinds.includes(kind) && calm.wish(), onReload: () => calm.wish() });
  calm.wish();
  return () => {
    hush();
    calm.close();
  };
}
