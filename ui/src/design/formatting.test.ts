import { describe, expect, it } from "vitest";
import { formatBytes, formatCount, formatDollars, formatDuration, formatInSentence } from "./formatting.ts";

const now = new Date(2026, 10, 16, 14, 0);
const at = (minutes: number): string => new Date(now.getTime() + minutes * 60_000).toISOString();

describe("told", () => {
  it("says what was and what will be as it is said in a sentence", () => {
    expect(formatInSentence(at(0), now.getTime())).toBe("just now");
    expect(formatInSentence(at(-20), now.getTime())).toBe("20 min ago");
    expect(formatInSentence(at(39), now.getTime())).toBe("in 39 min");
    expect(formatInSentence(at(-120), now.getTime())).toMatch(/^today, /);
    expect(formatInSentence(at(24 * 60), now.getTime())).toMatch(/^tomorrow, /);
    expect(formatInSentence(at(-24 * 60), now.getTime())).toMatch(/^yesterday, /);
  });

  it("names the day of what is far away", () => {
    const friday = new Intl.DateTimeFormat(undefined, { weekday: "long" }).format(new Date(2026, 10, 20));
    expect(formatInSentence(at(4 * 24 * 60), now.getTime())).toContain(`${friday}, `);
    expect(formatInSentence(at(-4 * 24 * 60), now.getTime())).toMatch(/12/);
    expect(formatInSentence(at(100 * 24 * 60), now.getTime())).toMatch(/2027/);
  });
});

describe("amounts", () => {
  it("have units that fit them", () => {
    expect([812, 2048, 20 * 1024 ** 2, 3 * 1024 ** 3, 1024 ** 4, 5000 * 1024 ** 4].map(formatBytes)).toEqual([
      "812 B",
      "2 kB",
      "20.0 MB",
      "3.0 GB",
      "1.0 TB",
      "5000.0 TB",
    ]);
    expect([812, 12_400, 1_200_000].map(formatCount)).toEqual(["812", "12.4k", "1.2M"]);
    expect([900, 1500, 90_000, 5_400_000].map(formatDuration)).toEqual(["900 ms", "1.5 s", "2 min", "1.5 h"]);
  });

  it("of money are not rounded away, and unknown is not nothing", () => {
    expect([null, "0", "0.00042", "1.5"].map(formatDollars)).toEqual(["unknown", "$0.00", "$0.00042", "$1.50"]);
  });
});
