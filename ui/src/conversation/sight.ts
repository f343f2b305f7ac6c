// What is before the reader's eyes, by rows and not by pixels from the top: so it stays where it is, whatever
// comes or goes above it.

import type { Row } from "./rows.ts";
import { rowAt, spanAround, type Heights, type Span } from "./window.ts";

/** A row that is seen: how far it is below the upper edge, and where it stood in the page when that was so. */
export interface Mark {
  readonly key: string;
  readonly offset: number;
  /** Null: it is to be brought there. */
  readonly y: number | null;
}

export interface Sight {
  readonly marks: readonly Mark[];
  readonly height: number;
  /** The reader is at the end, and stays there. */
  readonly isAtEnd: boolean;
}

/** The rows in the page, and the room that those take which are not. */
export interface Laid extends Span {
  readonly above: number;
  readonly below: number;
}

/** How far beyond the edges rows are in the page, in heights of the screen. */
const MARGIN = 0.75;
/** So near to the end somebody is taken to be there. */
const NEAR = 40;

/** Choose the rows that are in the page. */
export function lay(rows: readonly Row[], heights: Heights, sight: Sight): Laid {
  const tops = heights.tops(rows);
  const total = tops.at(-1) ?? 0;
  const top = Math.max(0, Math.min(topOf(rows, tops, sight), total - sight.height));
  const span = spanAround(tops, top, top + sight.height, sight.height * MARGIN);
  return { ...span, above: tops[span.from] ?? 0, below: total - (tops[span.to] ?? total) };
}

/** Find the first row that is still there of those that were seen. */
export function holdOf(marks: readonly Mark[], isThere: (key: string) => boolean): Mark | null {
  return marks.find(({ key }) => isThere(key)) ?? null;
}

/** Tell how far the page has to be moved, so that a row is where it was, or where it is to be brought. */
export function shiftOf(mark: Mark, y: number, scrollTop: number): number {
  return mark.y === null ? y - mark.offset - scrollTop : y - mark.y;
}

/** How the page was scrolled, and how it is now. */
export interface Scroll {
  readonly top: number;
  readonly whole: number;
}

/** Tell whether somebody goes up, and not only the page moved because something in it did. */
export function isUpwards(before: Scroll, now: Scroll, isByHand: boolean): boolean {
  return now.top < before.top - 1 && (isByHand || Math.abs(now.whole - before.whole) < 1);
}

/** Tell whether somebody is at the end: near it, or there before; and not on the way up. */
export function isNearEnd(below: number, isUp: boolean, wasThere: boolean): boolean {
  return below <= 4 || (!isUp && (wasThere || below <= NEAR));
}

/** Mark the row at a height that is not in the page yet. */
export function markAt(rows: readonly Row[], heights: Heights, top: number): Mark | null {
  const tops = heights.tops(rows);
  const at = rowAt(tops, top);
  const row = rows[at];
  return row ? { key: row.key, y: tops[at] ?? 0, offset: (tops[at] ?? 0) - top } : null;
}

export function isSame(one: Sight, other: Sight): boolean {
  const isAlike = one.isAtEnd === other.isAtEnd && one.height === other.height;
  if (!isAlike || one.marks.length !== other.marks.length) return false;
  return one.marks.every((mark, at) => {
    const twin = other.marks[at];
    const isStill = mark.y !== null && Math.abs((twin?.y ?? Number.NaN) - mark.y) < 0.5;
    return isStill && twin?.key === mark.key && Math.abs(twin.offset - mark.offset) < 0.5;
  });
}

function topOf(rows: readonly Row[], tops: readonly number[], { marks, height, isAtEnd }: Sight): number {
  const end = (tops.at(-1) ?? 0) - height;
  if (isAtEnd) return end;
  const places = new Map(rows.map(({ key }, at) => [key, at]));
  const mark = holdOf(marks, (key) => places.has(key));
  return mark ? (tops[places.get(mark.key) ?? 0] ?? 0) - mark.offset : end;
}
