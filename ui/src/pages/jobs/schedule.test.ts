import { describe, expect, it } from "vitest";
import { strings } from "../../strings/index.ts";
import { formatRunTime, parseSchedule, toCron } from "./schedule.ts";

describe("meaningOf", () => {
  it("reads what people write", () => {
    expect(parseSchedule("every 15m")).toEqual({ kind: "interval", number: 15, unit: "minute" });
    expect(parseSchedule("every 2 hours")).toEqual({ kind: "interval", number: 2, unit: "hour" });
    expect(parseSchedule("every  day 9:00")).toEqual({ kind: "days", days: "day", hour: 9, minute: 0 });
    expect(parseSchedule("every weekday at 17:30")).toEqual({ kind: "days", days: "weekday", hour: 17, minute: 30 });
    expect(parseSchedule("every mon, thursday 8")).toEqual({ kind: "days", days: [1, 4], hour: 8, minute: 0 });
    expect(parseSchedule("at 2027-01-31 18:00")).toEqual({ kind: "once", moment: "2027-01-31 18:00" });
  });

  it("reads the cron lines that can be said in a few words", () => {
    expect(parseSchedule("0 9 * * 1-5")).toEqual({ kind: "days", days: "weekday", hour: 9, minute: 0 });
    expect(parseSchedule("30 7 * * *")).toEqual({ kind: "days", days: "day", hour: 7, minute: 30 });
    expect(parseSchedule("0 9 * * 7,3")).toEqual({ kind: "days", days: [0, 3], hour: 9, minute: 0 });
    expect(parseSchedule("*/15 * * * *")).toEqual({ kind: "interval", number: 15, unit: "minute" });
    expect(parseSchedule("0 9 1 * *")).toEqual({ kind: "monthly", day: 1, hour: 9, minute: 0 });
  });

  it("claims nothing about the others", () => {
    for (const line of ["0 9 1 * 1", "0 9-17 * * *", "0 9 * 1 *", "5,35 * * * *", "*/40 * * * *", "*/7 * * * *", "every full moon 9:00", "soon", ""]) {
      expect(parseSchedule(line)).toEqual({ kind: "other" });
    }
  });
});

describe("cronOf", () => {
  it("writes days and times as a cron line, and nothing else", () => {
    expect(toCron("every day 9:00")).toBe("0 9 * * *");
    expect(toCron("every mon,thu 17:30")).toBe("30 17 * * 1,4");
    expect(toCron("every weekend 8:05")).toBe("5 8 * * 6,0");
    for (const one of ["0 9 * * *", "every 15m", "at 2027-01-31 18:00", "soon"]) expect(toCron(one)).toBeNull();
  });
});

describe("timeOf", () => {
  it("goes by the clock of the job, and names it where it is another", () => {
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const there = here === "America/New_York" ? "Asia/Tokyo" : "America/New_York";
    const hour = { timeZone: there, hour: "2-digit" } as const;
    const at = "2027-01-31T14:00:00Z";
    expect(formatRunTime(at, there)).toContain(new Date(at).toLocaleString(undefined, hour).slice(0, 2));
    expect(formatRunTime(at, there).length).toBeGreaterThan(formatRunTime(at, here).length);
  });
});

describe("what is said of a schedule", () => {
  it("says it as people do", () => {
    const { saying } = strings.jobs;
    expect(saying(parseSchedule("*/15 * * * *"))).toBe("Every 15 minutes");
    expect(saying(parseSchedule("0 * * * *"))).toBe("Every hour");
    expect(saying(parseSchedule("0 9 * * 1-5"))).toBe("Every weekday at 9:00");
    expect(saying(parseSchedule("5 17 * * 1,4"))).toBe("Every Monday and Thursday at 17:05");
    expect(saying(parseSchedule("0 9 1 * *"))).toBe("On day 1 of every month at 9:00");
    expect(saying(parseSchedule("0 9 * 1 *"))).toBeNull();
  });
});
