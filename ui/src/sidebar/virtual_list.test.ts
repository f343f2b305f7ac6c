import { describe, expect, it } from "vitest";
import { formatDayGroup } from "../design/formatting.ts";
import { findVisible, getRowTop, getScrollShift, layOutRows } from "./virtual_list.ts";

const row = (): number => 50;
const LABEL = 30;
const NOW = new Date(2026, 5, 15, 12).getTime();
const at = (daysAgo: number): string => new Date(NOW - daysAgo * 86_400_000).toISOString();

describe("laying out a list in groups", () => {
  it("puts a label before each group, and rows below each other", () => {
    const laid = layOutRows(["a1", "a2", "b1"], (name) => name.charAt(0), row, LABEL);
    expect(laid.groups).toEqual([
      { name: "a", top: 0, height: 130, row: 50, from: 0, to: 2 },
      { name: "b", top: 130, height: 80, row: 50, from: 2, to: 3 },
    ]);
    expect(laid.height).toBe(210);
    expect([0, 1, 2].map((index) => getRowTop(laid, index))).toEqual([30, 80, 160]);
  });

  it("groups by day, then by month, and asks only few rows for their group", () => {
    const moments = [0, 0, 1, 3, 3, 20, 21, 400].map(at);
    let asked = 0;
    const laid = layOutRows(moments, (moment) => (asked++, formatDayGroup(moment, NOW)), row, LABEL);
    const weekday = new Date(at(3)).toLocaleDateString(undefined, { weekday: "long" });
    expect(laid.groups.slice(0, 3).map(({ name }) => name)).toEqual(["Today", "Yesterday", weekday]);
    expect(laid.groups.map(({ from, to }) => to - from)).toEqual([2, 1, 2, 2, 1]);
    asked = 0;
    const long = Array.from({ length: 20_000 }, (_, index) => at(index / 100));
    layOutRows(long, (moment) => (asked++, formatDayGroup(moment, NOW)), row, LABEL);
    expect(asked).toBeLessThan(500);
  });

  it("may have lower rows in one group than in another", () => {
    const laid = layOutRows(["a1", "b1", "b2"], (name) => name.charAt(0), (name) => (name < "b" ? 20 : 60), LABEL);
    expect([0, 1, 2].map((index) => getRowTop(laid, index))).toEqual([30, 80, 140]);
    expect(laid.height).toBe(200);
  });

  it("lays out nothing", () => {
    expect(layOutRows([], String, row, LABEL)).toEqual({ groups: [], height: 0, label: LABEL });
  });
});

describe("what is drawn", () => {
  const laid = layOutRows(
    Array.from({ length: 100_000 }, (_, index) => index),
    (index) => (index < 3 ? "few" : "many"),
    row,
    LABEL,
  );

  it("is what is seen, and no more", () => {
    expect(findVisible(laid, 0, 200).map(({ from, to }) => [from, to])).toEqual([
      [0, 3],
      [3, 3],
    ]);
    const [many] = findVisible(laid, 1_000_000, 1_000_600);
    expect((many?.to ?? 0) - (many?.from ?? 0)).toBeLessThanOrEqual(14);
    expect(getRowTop(laid, many?.from ?? 0)).toBeLessThanOrEqual(1_000_000);
    expect(getRowTop(laid, many?.to ?? 0)).toBeGreaterThanOrEqual(1_000_600);
  });

  it("ends with the list", () => {
    const [last] = findVisible(laid, laid.height - 100, laid.height + 400);
    expect(last?.to).toBe(100_000);
  });
});

describe("staying where one reads", () => {
  const held = ["a", "b", "c"].map((key, index) => ({ key, top: 100 + index * 50 }));
  const moved = (tops: Record<string, number>): number => getScrollShift(held, (key) => tops[key] ?? null);

  it("follows what came in above", () => {
    expect(moved({ a: 150, b: 200, c: 250 })).toBe(50);
  });

  it("does not follow a row that goes to the top", () => {
    expect(moved({ a: 30, b: 150, c: 200 })).toBe(0);
  });

  it("does not follow a row that is gone, and stays if all are", () => {
    expect(moved({ b: 100, c: 150 })).toBe(-50);
    expect(moved({})).toBe(0);
  });
});
