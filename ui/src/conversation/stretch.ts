// The stretch of a transcript that is loaded: it grows at both ends, and goes at the one that is far away.

import type { MessagePage, MessageView } from "../api/schema.ts";

export interface Stretch {
  readonly lines: readonly MessageView[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
}

export const NOTHING: Stretch = { lines: [], hasEarlier: false, hasLater: false };

/** Tell the place of a line; those that wait have none, and are in no stretch. */
export function seqOf(line: MessageView | undefined): number {
  return line?.seq ?? 0;
}

/** Begin with a page. Up to `floor` everything is folded away. */
export function begun(page: MessagePage, floor: number, hasLater: boolean): Stretch {
  const lines = page.items.filter((line) => seqOf(line) > floor);
  return { lines, hasEarlier: hasMore(page, lines), hasLater };
}

/** Tell whether a page around a line leaves something out that is later. */
export function isCutShort(page: MessagePage, around: number, most: number): boolean {
  const later = page.items.filter((line) => seqOf(line) >= around).length;
  return later >= most - Math.floor(most / 2);
}

/** Put a page before what is loaded. */
export function grownUp(stretch: Stretch, page: MessagePage, floor: number): Stretch {
  const first = seqOf(stretch.lines[0]);
  const kept = page.items.filter((line) => seqOf(line) > floor);
  const lines = kept.filter((line) => seqOf(line) < first);
  return { ...stretch, lines: [...lines, ...stretch.lines], hasEarlier: hasMore(page, kept) };
}

/** Put lines after what is loaded; what is there already stays as it is. */
export function grownDown(stretch: Stretch, items: readonly MessageView[], hasLater: boolean): Stretch {
  const last = seqOf(stretch.lines.at(-1));
  const fresh = items.filter((line) => seqOf(line) > last);
  return { ...stretch, lines: [...stretch.lines, ...fresh], hasLater };
}

/** Let go of what is farthest from the line that is looked at, until no more than `most` are left. */
export function trimmed(stretch: Stretch, lookedAt: number, most: number): Stretch {
  const { lines } = stretch;
  if (lines.length <= most) return stretch;
  const found = lines.findIndex((line) => seqOf(line) >= lookedAt);
  const at = found < 0 ? lines.length : found;
  const from = Math.min(Math.max(0, at - Math.floor(most / 2)), lines.length - most);
  return {
    lines: lines.slice(from, from + most),
    hasEarlier: stretch.hasEarlier || from > 0,
    hasLater: stretch.hasLater || from + most < lines.length,
  };
}

/** Put a line in the place of the one that it was. */
export function replaced(stretch: Stretch, line: MessageView): Stretch {
  if (!stretch.lines.some((one) => one.seq === line.seq)) return stretch;
  return { ...stretch, lines: stretch.lines.map((one) => (one.seq === line.seq ? line : one)) };
}

/** Fold away everything up to a line. */
export function folded(stretch: Stretch, floor: number): Stretch {
  const lines = stretch.lines.filter((line) => seqOf(line) > floor);
  return lines.length === stretch.lines.length ? stretch : { ...stretch, lines, hasEarlier: false };
}

/** There is more before a page if the server says so, and nothing of it was folded away. */
function hasMore(page: MessagePage, kept: readonly MessageView[]): boolean {
  return page.before !== null && kept.length === page.items.length;
}
