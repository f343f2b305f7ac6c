// The visible part of the transcript, kept by rows and not by pixels, so that it stays where it is when rows change
// above.

import type { Row } from "./rows.ts";
import { findRowAt, type RowHeights, type RowSpan, selectSpan } from "./virtual_rows.ts";

/** A row that is seen: how far it is below the upper edge, and where it stood in the page when that was so. */
export interface RowAnchor {
  readonly key: string;
  readonly offset: number;
  /** Null: it is to be brought there. */
  readonly y: number | null;
}

export interface Viewport {
  readonly anchors: readonly RowAnchor[];
  readonly height: number;
  /** The reader is at the end, and stays there. */
  readonly isAtEnd: boolean;
}

/** The rows in the page, and the room that those take which are not. */
export interface MountedRows extends RowSpan {
  readonly above: number;
  readonly below: number;
}

/** How far beyond the edges rows are in the page, in heights of the screen. */
const MARGIN = 0.75;
/** So near to the end somebody is taken to be there. */
const NEAR = 40;

/** Choose the rows that are in the page. */
export function selectMountedRows(rows: readonly Row[], heights: RowHeights, viewport: Viewport): MountedRows {
  const tops = heights.tops(rows);
  const total = tops.at(-1) ?? 0;
  const top = Math.max(0, Math.min(topOf(rows, tops, viewport), total - viewport.height));
  const span = selectSpan(tops, top, top + viewport.height, viewport.height * MARGIN);
  return { ...span, above: tops[span.from] ?? 0, below: total - (tops[span.to] ?? total) };
}

/** Find the first row that is still there of those that were seen. */
export function findAnchor(anchors: readonly RowAnchor[], isThere: (key: string) => boolean): RowAnchor | null {
  return anchors.find(({ key }) => isThere(key)) ?? null;
}

/** Tell how far the page has to be moved, so that a row is where it was, or where it is to be brought. */
export function getAnchorShift(anchor: RowAnchor, y: number, scrollTop: number): number {
  return anchor.y === null ? y - anchor.offset - scrollTop : y - anchor.y;
}

/** How the page was scrolled, and how it is now. */
export interface ScrollState {
  readonly top: number;
  readonly whole: number;
}

/** Tell whether somebody goes up, and not only the page moved because something in it did. */
export function isScrollingUp(before: ScrollState, now: ScrollState, isByHand: boolean): boolean {
  return now.top < before.top - 1 && (isByHand || Math.abs(now.whole - before.whole) < 1);
}

/** Tell whether somebody is at the end: near it, or there before; and not on the way up. */
export function isNearEnd(below: number, isUp: boolean, wasThere: boolean): boolean {
  return below <= 4 || (!isUp && (wasThere || below <= NEAR));
}

/** Mark the row at a height that is not in the page yet. */
export function getAnchorAt(rows: readonly Row[], heights: RowHeights, top: number): RowAnchor | null {
  const tops = heights.tops(rows);
  const at = findRowAt(tops, top);
  const row = rows[at];
  return row ? { key: row.key, y: tops[at] ?? 0, offset: (tops[at] ?? 0) - top } : null;
}

export function isSameViewport(one: Viewport, other: Viewport): boolean {
  const isAlike = one.isAtEnd === other.isAtEnd && one.height === other.height;
  if (!isAlike || one.anchors.length !== other.anchors.length) return false;
  return one.anchors.every((anchor, at) => {
    const twin = other.anchors[at];
    const isStill = anchor.y !== null && Math.abs((twin?.y ?? Number.NaN) - anchor.y) < 0.5;
    return isStill && twin?.key === anchor.key && Math.abs(twin.offset - anchor.offset) < 0.5;
  });
}

function topOf(rows: readonly Row[], tops: readonly number[], { anchors, height, isAtEnd }: Viewport): number {
  const end = (tops.at(-1) ?? 0) - height;
  if (isAtEnd) return end;
  const places = new Map(rows.map(({ key }, at) => [key, at]));
  const anchor = findAnchor(anchors, (key) => places.has(key));
  return anchor ? (tops[places.get(anchor.key) ?? 0] ?? 0) - anchor.offset : end;
}
