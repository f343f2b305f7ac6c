import { describe, expect, it } from "vitest";
import type { Row } from "./rows.ts";
import { findRowAt, MAX_MOUNTED, RowHeights, selectSpan } from "./virtual_rows.ts";

const day = (key: string): Row => ({ key, kind: "day", at: "2026-01-31T18:45:00Z", isDashed: false });
const even = (count: number, height: number): number[] => Array.from({ length: count + 1 }, (_, at) => at * height);

describe("the rows in the page", () => {
  it("are found by their height", () => {
    const tops = [0, 100, 150, 400];
    expect([-5, 0, 99, 100, 149, 399, 900].map((y) => findRowAt(tops, y))).toEqual([0, 0, 0, 1, 1, 2, 2]);
  });

  it("are those that are seen, and some around them", () => {
    expect(selectSpan(even(600, 100), 30_000, 30_900, 500)).toEqual({ from: 295, to: 315 });
  });

  it("stop at both ends", () => {
    expect(selectSpan(even(600, 100), 0, 900, 500)).toEqual({ from: 0, to: 15 });
    expect(selectSpan(even(600, 100), 59_100, 60_000, 500)).toEqual({ from: 586, to: 600 });
    expect(selectSpan([0], 0, 900, 500)).toEqual({ from: 0, to: 0 });
  });

  it("are never more than the page can bear, however low they are", () => {
    for (let top = 0; top < 6000; top += 7) {
      const { from, to } = selectSpan(even(600, 10), top, top + 400, 2000);
      expect(to - from).toBeLessThanOrEqual(MAX_MOUNTED);
      expect(from).toBeLessThanOrEqual(Math.floor(top / 10));
      expect(to).toBeGreaterThanOrEqual(Math.min(600, Math.floor((top + 400) / 10)));
    }
  });
});

describe("heights", () => {
  it("are guessed until they are measured", () => {
    const heights = new RowHeights();
    const rows = [day("a"), day("b")];
    const guessed = heights.tops(rows);
    expect(heights.set("a", 100)).toBe(true);
    expect(heights.set("a", 100.05)).toBe(false);
    expect(heights.tops(rows)).toEqual([0, 100, 100 + (guessed[1] ?? 0)]);
  });

  it("are forgotten when a long way was gone", () => {
    const heights = new RowHeights();
    for (let at = 0; at < 5000; at++) heights.set(`old ${at}`, 10);
    heights.set("a", 10);
    heights.forget([day("a")]);
    expect(heights.of(day("old 1"))).not.toBe(10);
    expect(heights.of(day("a"))).toBe(10);
  });
});
