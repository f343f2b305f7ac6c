// The rows that were chosen, to do the same with all of them.

export class Chosen {
  ids = $state.raw<ReadonlySet<string>>(new Set());
  /** Where a stretch begins that is extended. */
  #from: string | null = null;

  get count(): number {
    return this.ids.size;
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  /** Choose a row, or no longer. */
  toggle(id: string): void {
    const ids = new Set(this.ids);
    if (!ids.delete(id)) ids.add(id);
    [this.ids, this.#from] = [ids, id];
  }

  /** Choose everything from where one began up to a row; `order` is that of the list. */
  extend(order: readonly string[], from: string, to: string): void {
    this.#from ??= from;
    const ends = [order.indexOf(this.#from), order.indexOf(to)];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const stretch = low < 0 ? [from, to] : order.slice(low, high + 1);
    this.ids = new Set([...this.ids, ...stretch]);
  }

  clear(): void {
    [this.ids, this.#from] = [new Set(), null];
  }

  /** Let go of what is no longer in the list. */
  keep(isThere: (id: string) => boolean): void {
    const ids = [...this.ids].filter(isThere);
    if (ids.length < this.ids.size) this.ids = new Set(ids);
  }
}

export const chosen = new Chosen();
