import { describe, expect, it } from "vitest";
import type { BucketView } from "../../api/schema.ts";
import { getLineTop, getSeqAt, layOutBuckets, MINIMAP_HEIGHT } from "./minimap.ts";

const bucket = (first_seq: number, last_seq: number, counts: Partial<BucketView> = {}): BucketView => ({
  first_seq,
  last_seq,
  user: 0,
  assistant: 0,
  tool: 0,
  system: 0,
  markers: 0,
  hidden: 0,
  ...counts,
});

describe("the minimap", () => {
  it("covers the whole transcript without a gap", () => {
    const drawn = layOutBuckets([bucket(1, 100), bucket(101, 200), bucket(201, 300)], 300);
    drawn.forEach((mark, at) => expect(mark.y).toBeCloseTo((at * MINIMAP_HEIGHT) / 3));
    const end = drawn.at(-1);
    expect((end?.y ?? 0) + (end?.height ?? 0)).toBeCloseTo(MINIMAP_HEIGHT);
  });

  it("knows which line a place means, and where a line stands", () => {
    for (const seq of [1, 2, 500, 99_999, 100_000]) {
      expect(getSeqAt(getLineTop(seq + 0.5, 100_000) / MINIMAP_HEIGHT, 100_000)).toBe(seq);
    }
    expect([getSeqAt(-1, 10), getSeqAt(2, 10), getSeqAt(0, 0)]).toEqual([1, 10, 0]);
  });

  it("shows who speaks most, and above all what went wrong", () => {
    const kinds = layOutBuckets(
      [
        bucket(1, 10, { user: 6, assistant: 4 }),
        bucket(11, 20, { user: 2, assistant: 8 }),
        bucket(21, 30, { user: 1, tool: 9 }),
        bucket(31, 40, { user: 9, markers: 1 }),
        bucket(41, 50, { user: 9, hidden: 8 }),
      ],
      50,
    ).map((mark) => mark.kind);
    expect(kinds).toEqual(["person", "agent", "tool", "gap", "hidden"]);
  });
});
