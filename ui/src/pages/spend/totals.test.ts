import { describe, expect, it } from "vitest";
import type { UsageView } from "../../api/schema.ts";
import { createBars, getBarHeight, getPeriodStart, sumUsage } from "./totals.ts";

const usage = (subject: string, cost: string | null, tokens = 10): UsageView => ({
  subject,
  name: null,
  calls: 1,
  unpriced: cost === null ? 1 : 0,
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost,
  cost_status: cost === null ? "unknown" : "exact",
});

describe("beginning", () => {
  it("is the morning of the first day, today included", () => {
    const now = new Date(2026, 2, 3, 15, 30);
    expect(getPeriodStart("week", now)).toEqual(new Date(2026, 1, 25));
    expect(getPeriodStart("all", now)).toBeNull();
  });
});

describe("bars", () => {
  it("has one for each day, also for those without anything", () => {
    const found = createBars([usage("2026-03-01", "0.5")], new Date(2026, 1, 28), new Date(2026, 2, 2));
    expect(found.map(({ name, cost }) => [name, cost])).toEqual([
      ["2026-02-28", 0],
      ["2026-03-01", 0.5],
      ["2026-03-02", 0],
    ]);
  });

  it("has one for each month where days would be too thin", () => {
    const days = [usage("2025-12-31", "1"), usage("2026-01-01", "2"), usage("2026-01-31", null, 5)];
    const found = createBars(days, null, new Date(2026, 5, 1));
    expect(found[0]).toMatchObject({ name: "2025-12", cost: 1 });
    expect(found[1]).toMatchObject({ name: "2026-01", cost: 2, calls: 2, unpriced: 1, input: 15 });
    expect(found.at(-1)?.name).toBe("2026-06");
  });

  it("begins with the first day that there is, and today where there is none", () => {
    expect(createBars([], null, new Date(2026, 0, 1)).map(({ name }) => name)).toEqual(["2026-01-01"]);
    expect(createBars([usage("2026-01-01", "1")], null, new Date(2026, 0, 2))).toHaveLength(2);
  });
});

describe("total", () => {
  it("does not take unknown for nothing, nor nothing for unknown", () => {
    expect(sumUsage([]).cost).toBe(0);
    expect(sumUsage([usage("a", null)]).cost).toBeNull();
    expect(sumUsage([usage("a", null), usage("b", "0.25")])).toMatchObject({ cost: 0.25, unpriced: 1, status: "estimated" });
  });
});

describe("height", () => {
  it("is the cost or the tokens", () => {
    const sum = sumUsage([usage("a", "0.25", 7)]);
    expect([getBarHeight(sum, "cost"), getBarHeight(sum, "tokens")]).toEqual([0.25, 14]);
  });
});
