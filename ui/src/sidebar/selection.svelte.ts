// The selected rows.

export class Selection {
  ids = $state.raw<ReadonlySet<string>>(new Set());
  /** Where a stretch begins that is extended. */
  #anchor: string | null = null;

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
    [this.ids, this.#anchor] = [ids, id];
  }

  /** Choose everything from where one began up to a row; `order` is that of the list. */
  extend(order: readonly string[], from: string, to: string): void {
    this.#anchor ??= from;
    const ends = [order.indexOf(this.#anchor), order.indexOf(to)];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const range = low < 0 ? [from, to] : order.slice(low, high + 1);
    this.ids = new Set([...this.ids, ...range]);
  }

  clear(): void {
    [this.ids, this.#anchor] = [new Set(), null];
  }

  /** Let go of what is no longer in the list. */
  retain(isThere: (id: string) => boolean): void {
    const ids = [...this.ids].filter(isThere);
    if (ids.length < this.ids.size) this.ids = new Set(ids);
  }
}

export const selection = new Selection();
