// Which rows of the transcript are mounted; the others are known by their height alone.

import type { Row } from "./rows.ts";

/** At most so many rows are in the page. */
export const MAX_MOUNTED = 60;

export interface RowSpan {
  /** The first row, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** Heights as they were measured; until then they are guessed from how much there is to read. */
export class RowHeights {
  readonly #known = new Map<string, number>();

  of(row: Row): number {
    return this.#known.get(row.key) ?? estimateHeight(row);
  }

  /** Remember a height; answers whether it is another one than before. */
  set(key: string, height: number): boolean {
    if (Math.abs((this.#known.get(key) ?? Number.NaN) - height) < 0.1) return false;
    this.#known.set(key, height);
    return true;
  }

  /** Where each row begins, and at the end where the last one ends. */
  tops(rows: readonly Row[]): readonly number[] {
    const tops = [0];
    let top = 0;
    for (const row of rows) tops.push((top += this.of(row)));
    return tops;
  }

  /** Forget rows that are no longer loaded, so that a long way through a transcript costs nothing. */
  forget(rows: readonly Row[]): void {
    if (this.#known.size < 4 * rows.length + 1000) return;
    const loaded = new Set(rows.map(({ key }) => key));
    for (const key of this.#known.keys()) if (!loaded.has(key)) this.#known.delete(key);
  }
}

/** Find the row at a height. */
export function findRowAt(tops: readonly number[], y: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Choose the rows between two heights and as many around them as `margin` tells; what is seen comes first. */
export function selectSpan(tops: readonly number[], top: number, bottom: number, margin: number): RowSpan {
  const count = tops.length - 1;
  if (count <= 0) return { from: 0, to: 0 };
  const seen = { from: findRowAt(tops, top), to: findRowAt(tops, bottom) + 1 };
  const wide = { from: findRowAt(tops, top - margin), to: findRowAt(tops, bottom + margin) + 1 };
  const spare = Math.max(0, MAX_MOUNTED - (seen.to - seen.from));
  const above = Math.min(seen.from - wide.from, Math.max(spare >> 1, spare - (wide.to - seen.to)));
  const from = seen.from - above;
  return { from, to: Math.min(wide.to, from + MAX_MOUNTED, count) };
}

/** Guess from the length of what is said; wrong guesses are put right before anything is painted. */
function estimateHeight(row: Row): number {
  if (row.kind !== "message") return 48;
  let lines = 0;
  for (const part of row.line.parts) {
    if (part.type === "text" || part.type === "note") lines += Math.ceil(Math.min(part.text.length, 20_000) / 80);
    else if (part.type === "attachment" && part.kind === "image") lines += 8;
    else lines += 1.5;
  }
  return 32 + 24 * Math.max(1, lines);
}
