import { describe, expect, it } from "vitest";
import type { MessagePageView, MessageView } from "../../api/schema.ts";
import {
  appendMessages,
  createRange,
  foldRange,
  hasLaterMessages,
  type MessageRange,
  prependPage,
  replaceMessage,
  trimRange,
} from "./message_range.ts";

const line = (seq: number): MessageView => ({
  key: seq,
  session_id: "one",
  seq,
  role: "user",
  parts: [{ type: "text", text: String(seq) }],
  at: "2026-01-31T18:45:00Z",
  turn_id: null,
  sender_id: null,
  sender_name: null,
  arrived_at: null,
  changed_at: null,
  deleted_at: null,
});
const lines = (first: number, last: number): MessageView[] =>
  Array.from({ length: last - first + 1 }, (_, at) => line(first + at));
const page = (first: number, last: number): MessagePageView => ({
  items: lines(first, last),
  before: first > 1 ? first : null,
  after: last,
});
const seqs = (range: MessageRange): [number | null | undefined, number | null | undefined] => [
  range.lines[0]?.seq,
  range.lines.at(-1)?.seq,
];

describe("a stretch", () => {
  it("begins with a page and knows whether there is more", () => {
    expect(createRange(page(41, 100), 0, false)).toMatchObject({ hasEarlier: true, hasLater: false });
    expect(createRange(page(1, 20), 0, true)).toMatchObject({ hasEarlier: false, hasLater: true });
  });

  it("ends where something is folded away", () => {
    const range = createRange(page(41, 100), 60, false);
    expect(seqs(range)).toEqual([61, 100]);
    expect(range.hasEarlier).toBe(false);
  });

  it("grows at both ends without doubling a line", () => {
    const middle = createRange(page(50, 60), 0, true);
    const up = prependPage(middle, page(40, 50), 0);
    const both = appendMessages(up, lines(60, 70), false);
    expect(both.lines.map((one) => one.seq)).toEqual(lines(40, 70).map((one) => one.seq));
    expect(both).toMatchObject({ hasEarlier: true, hasLater: false });
  });

  it("knows that it has reached the beginning", () => {
    expect(prependPage(createRange(page(11, 60), 0, false), page(1, 10), 0).hasEarlier).toBe(false);
  });

  it("lets go of the end when somebody reads upwards", () => {
    const range = trimRange(createRange(page(1, 700), 0, false), 30, 600);
    expect(seqs(range)).toEqual([1, 600]);
    expect(range).toMatchObject({ hasEarlier: false, hasLater: true });
  });

  it("lets go of the beginning when somebody reads downwards", () => {
    const range = trimRange(createRange(page(1, 700), 0, false), 690, 600);
    expect(trimRange(createRange(page(1, 700), 0, false), 701, 600)).toEqual(range);
    expect(seqs(range)).toEqual([101, 700]);
    expect(range).toMatchObject({ hasEarlier: true, hasLater: false });
  });

  it("keeps what is looked at in its middle", () => {
    expect(seqs(trimRange(createRange(page(1, 2000), 0, true), 1000, 600))).toEqual([700, 1299]);
  });

  it("takes a line that reads differently now, if it is loaded", () => {
    const range = createRange(page(1, 3), 0, false);
    const changed = { ...line(2), changed_at: "2026-01-31T19:00:00Z" };
    expect(replaceMessage(range, changed).lines[1]).toBe(changed);
    expect(replaceMessage(range, line(9))).toBe(range);
  });

  it("folds what was compacted", () => {
    expect(seqs(foldRange(createRange(page(1, 50), 0, false), 30))).toEqual([31, 50]);
  });

  it("knows whether a page around a line was cut short", () => {
    expect(hasLaterMessages(page(71, 130), 101, 60)).toBe(true);
    expect(hasLaterMessages(page(71, 120), 101, 60)).toBe(false);
  });
});
