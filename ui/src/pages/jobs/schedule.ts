// What a schedule means, as far as it can be said in a few words; the server knows all of it.

export type Unit = "minute" | "hour" | "day" | "week";
export type Days = "day" | "weekday" | "weekend" | readonly number[];

export type Schedule =
  | { kind: "interval"; number: number; unit: Unit }
  | { kind: "days"; days: Days; hour: number; minute: number }
  | { kind: "monthly"; day: number; hour: number; minute: number }
  | { kind: "once"; moment: string }
  | { kind: "other" };

const OTHER: Schedule = { kind: "other" };
const UNITS: Readonly<Record<string, Unit>> = { m: "minute", h: "hour", d: "day", w: "week" };
const NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Read a schedule as somebody wrote it. */
export function parseSchedule(schedule: string): Schedule {
  const written = schedule.trim().replace(/\s+/g, " ");
  const every = /^every (\d+) ?([a-z]+)$/i.exec(written);
  if (every) return parseInterval(Number(every[1]), every[2] ?? "");
  const days = /^every ([a-z]+(?: ?, ?[a-z]+)*) (?:at )?(\d{1,2})(?::(\d{2}))?$/i.exec(written);
  if (days) return parseDays(days[1] ?? "", Number(days[2]), Number(days[3] ?? 0));
  const once = /^at (.+)$/i.exec(written);
  if (once) return { kind: "once", moment: once[1] ?? "" };
  return parseCron(written);
}

/** Write a schedule as a cron line; null: it is one already, or cannot be written as one. */
export function toCron(schedule: string): string | null {
  const meaning = parseSchedule(schedule);
  if (meaning.kind !== "days" || !/^every/i.test(schedule.trim())) return null;
  return `${meaning.minute} ${meaning.hour} * * ${formatWeekdays(meaning.days)}`;
}

/** Say when a job comes by the clock that it goes by, which is named where it is not the one of this place. */
export function formatRunTime(at: string, zone: string): string {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const form: Intl.DateTimeFormatOptions = {
    ...({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const),
    ...(zone === here ? {} : { timeZone: zone, timeZoneName: "short" }),
  };
  return new Date(at).toLocaleString(undefined, form);
}

function parseInterval(number: number, unit: string): Schedule {
  const known = UNITS[unit.charAt(0).toLowerCase()];
  return known ? { kind: "interval", number, unit: known } : OTHER;
}

function parseDays(text: string, hour: number, minute: number): Schedule {
  const names = text.toLowerCase().split(/ ?, ?/);
  const [only = ""] = names;
  const whole = only.replace(/s$/, "");
  if (names.length === 1 && (whole === "day" || whole === "weekday" || whole === "weekend")) {
    return { kind: "days", days: whole, hour, minute };
  }
  const numbers = names.map((name) => NAMES.indexOf(name.slice(0, 3)));
  return numbers.includes(-1) ? OTHER : { kind: "days", days: numbers, hour, minute };
}

function parseCron(line: string): Schedule {
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...rest] = line.split(" ");
  if (rest.length > 0 || month !== "*" || weekday === "") return OTHER;
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  const isAnyHour = hour === "*" && day === "*" && weekday === "*";
  // Any other step begins anew with each hour: `*/40` comes at :00 and at :40.
  if (step && isAnyHour && 60 % Number(step) === 0) return { kind: "interval", number: Number(step), unit: "minute" };
  if (!/^\d+$/.test(minute)) return OTHER;
  if (minute === "0" && isAnyHour) return { kind: "interval", number: 1, unit: "hour" };
  if (!/^\d+$/.test(hour)) return OTHER;
  const time = { hour: Number(hour), minute: Number(minute) };
  if (/^\d+$/.test(day)) return weekday === "*" ? { kind: "monthly", day: Number(day), ...time } : OTHER;
  const days = day === "*" ? parseWeekdays(weekday) : null;
  return days ? { kind: "days", days, ...time } : OTHER;
}

function parseWeekdays(weekday: string): Days | null {
  if (weekday === "*") return "day";
  if (weekday === "1-5") return "weekday";
  if (weekday === "6,0" || weekday === "0,6" || weekday === "6-7") return "weekend";
  return /^[0-7](,[0-7])*$/.test(weekday) ? weekday.split(",").map((one) => Number(one) % 7) : null;
}

function formatWeekdays(days: Days): string {
  if (days === "day") return "*";
  if (days === "weekday") return "1-5";
  return days === "weekend" ? "6,0" : days.join(",");
}
