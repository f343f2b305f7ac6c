import { describe, expect, it } from "vitest";
import type { Row } from "./rows.ts";
import {
  findAnchor,
  getAnchorAt,
  getAnchorShift,
  isNearEnd,
  isScrollingUp,
  selectMountedRows,
  type Viewport,
} from "./viewport.ts";
import { RowHeights } from "./virtual_rows.ts";

const rows = (first: number, last: number): Row[] =>
  Array.from({ length: last - first + 1 }, (_, at) => ({
    key: `r${first + at}`,
    kind: "day",
    at: "2026-01-31T18:45:00Z",
    isDashed: false,
  }));
const measured = (all: readonly Row[], height: number): RowHeights => {
  const heights = new RowHeights();
  for (const { key } of all) heights.set(key, height);
  return heights;
};
const at = (key: string, offset = 0): Viewport => ({ anchors: [{ key, offset, y: 0 }], height: 900, isAtEnd: false });

describe("what is seen", () => {
  it("is the end, if somebody is there", () => {
    const all = rows(1, 600);
    const laid = selectMountedRows(all, measured(all, 100), { anchors: [], height: 900, isAtEnd: true });
    expect(laid.to).toBe(600);
    expect(laid.below).toBe(0);
    expect(laid.above).toBe(laid.from * 100);
  });

  it("is the same when a page is put before it", () => {
    const few = rows(100, 300);
    const many = rows(40, 300);
    const heights = measured(many, 100);
    const before = selectMountedRows(few, heights, at("r150", -30));
    const after = selectMountedRows(many, heights, at("r150", -30));
    expect(few[before.from]?.key).toBe(many[after.from]?.key);
    expect(after.above - before.above).toBe(60 * 100);
  });

  it("leaves no room unaccounted for", () => {
    const all = rows(1, 400);
    const heights = measured(all, 80);
    for (const key of ["r1", "r7", "r200", "r399", "r400"]) {
      const { from, to, above, below } = selectMountedRows(all, heights, at(key));
      expect(above + (to - from) * 80 + below).toBe(400 * 80);
    }
  });

  it("holds on to the first row that is still there", () => {
    const anchors = [
      { key: "gone", offset: -10, y: 90 },
      { key: "here", offset: 40, y: 140 },
    ];
    expect(findAnchor(anchors, (key) => key === "here")).toBe(anchors[1]);
    expect(findAnchor(anchors, () => false)).toBeNull();
  });

  it("moves by as much as a row was pushed, whatever was scrolled meanwhile", () => {
    expect(getAnchorShift({ key: "a", offset: -10, y: 500 }, 740, 123)).toBe(240);
    expect(getAnchorShift({ key: "a", offset: -10, y: 500 }, 500, 999)).toBe(0);
  });

  it("brings a row to where it is wanted", () => {
    expect(getAnchorShift({ key: "a", offset: 200, y: null }, 1000, 300)).toBe(500);
  });

  it("finds a row that was never in the page by its height", () => {
    const all = rows(1, 100);
    expect(getAnchorAt(all, measured(all, 50), 1020)).toEqual({ key: "r21", y: 1000, offset: -20 });
    expect(getAnchorAt([], new RowHeights(), 0)).toBeNull();
  });

  it("is at the end near to it, unless on the way up", () => {
    expect(isNearEnd(0, true, false)).toBe(true);
    expect(isNearEnd(30, false, false)).toBe(true);
    expect(isNearEnd(30, true, true)).toBe(false);
    expect(isNearEnd(200, false, false)).toBe(false);
  });

  it("stays at the end when the page grows, and is left by going up", () => {
    expect(isNearEnd(200, false, true)).toBe(true);
    expect(isNearEnd(200, true, true)).toBe(false);
  });

  it("does not take a page that moves by itself for somebody who goes up", () => {
    const before = { top: 1000, whole: 2000 };
    expect(isScrollingUp(before, { top: 900, whole: 2000 }, false)).toBe(true);
    expect(isScrollingUp(before, { top: 900, whole: 1900 }, false)).toBe(false);
    expect(isScrollingUp(before, { top: 900, whole: 2100 }, true)).toBe(true);
    expect(isScrollingUp(before, { top: 1000, whole: 2000 }, true)).toBe(false);
  });
});
