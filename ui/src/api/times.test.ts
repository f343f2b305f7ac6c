import { expect, it } from "vitest";
import { compareTimes } from "./times.ts";

it("puts a whole second before its fractions", () => {
  const times = ["2026-01-31T10:00:01Z", "2026-01-31T10:00:00.999999Z", "2026-01-31T10:00:01.000001Z", "2026-01-31T09:59:59Z"];

  expect(times.toSorted(compareTimes)).toEqual([
    "2026-01-31T09:59:59Z",
    "2026-01-31T10:00:00.999999Z",
    "2026-01-31T10:00:01Z",
    "2026-01-31T10:00:01.000001Z",
  ]);
  expect(compareTimes("2026-01-31T10:00:01Z", "2026-01-31T10:00:01Z")).toBe(0);
});
