// A range of loaded messages: it grows at both ends, and is trimmed at the one that is farther away.

import type { MessagePageView, MessageView } from "../../api/schema.ts";
import { getSeq } from "./messages.ts";

export interface MessageRange {
  readonly lines: readonly MessageView[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
}

export const EMPTY_RANGE: MessageRange = { lines: [], hasEarlier: false, hasLater: false };

/** Begin with a page. Up to `floor` everything is folded away. */
export function createRange(page: MessagePageView, floor: number, hasLater: boolean): MessageRange {
  const lines = page.items.filter((line) => getSeq(line) > floor);
  return { lines, hasEarlier: hasMore(page, lines), hasLater };
}

/** Tell whether a page around a line leaves something out that is later. */
export function hasLaterMessages(page: MessagePageView, around: number, most: number): boolean {
  const later = page.items.filter((line) => getSeq(line) >= around).length;
  return later >= most - Math.floor(most / 2);
}

/** Put a page before what is loaded. */
export function prependPage(range: MessageRange, page: MessagePageView, floor: number): MessageRange {
  const first = getSeq(range.lines[0]);
  const kept = page.items.filter((line) => getSeq(line) > floor);
  const lines = kept.filter((line) => getSeq(line) < first);
  return { ...range, lines: [...lines, ...range.lines], hasEarlier: hasMore(page, kept) };
}

/** Put lines after what is loaded; what is there already stays as it is. */
export function appendMessages(range: MessageRange, items: readonly MessageView[], hasLater: boolean): MessageRange {
  const last = getSeq(range.lines.at(-1));
  const fresh = items.filter((line) => getSeq(line) > last);
  return { ...range, lines: [...range.lines, ...fresh], hasLater };
}

/** Let go of what is farthest from the line that is looked at, until no more than `most` are left. */
export function trimRange(range: MessageRange, lookedAt: number, most: number): MessageRange {
  const { lines } = range;
  if (lines.length <= most) return range;
  const found = lines.findIndex((line) => getSeq(line) >= lookedAt);
  const at = found < 0 ? lines.length : found;
  const from = Math.min(Math.max(0, at - Math.floor(most / 2)), lines.length - most);
  return {
    lines: lines.slice(from, from + most),
    hasEarlier: range.hasEarlier || from > 0,
    hasLater: range.hasLater || from + most < lines.length,
  };
}

/** Put a line in the place of the one that it was. */
export function replaceMessage(range: MessageRange, line: MessageView): MessageRange {
  if (!range.lines.some((one) => one.seq === line.seq)) return range;
  return { ...range, lines: range.lines.map((one) => (one.seq === line.seq ? line : one)) };
}

/** Fold away everything up to a line. */
export function foldRange(range: MessageRange, floor: number): MessageRange {
  const lines = range.lines.filter((line) => getSeq(line) > floor);
  return lines.length === range.lines.length ? range : { ...range, lines, hasEarlier: false };
}

/** There is more before a page if the server says so, and nothing of it was folded away. */
function hasMore(page: MessagePageView, kept: readonly MessageView[]): boolean {
  return page.before !== null && kept.length === page.items.length;
}
