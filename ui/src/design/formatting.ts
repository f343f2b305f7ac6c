// Formatting of times, durations, amounts and sizes.

import { common } from "../strings/common.ts";

const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const YEAR = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: "long" });
const LONG = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const labels = common.moments;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Say when something was, the shorter the longer ago. */
export function formatRelative(at: string, now: number): string {
  const moment = new Date(at);
  const ago = now - moment.getTime();
  if (ago < MINUTE && ago > -MINUTE) return labels.now;
  if (ago > 0 && ago < HOUR) return `${Math.floor(ago / MINUTE)} min`;
  const days = daysBetween(moment, new Date(now));
  if (days === 0) return CLOCK.format(moment);
  return moment.getFullYear() === new Date(now).getFullYear() ? DAY.format(moment) : YEAR.format(moment);
}

/** Say when something was or will be, so that it can stand in a sentence. */
export function formatInSentence(at: string, now: number): string {
  const moment = new Date(at);
  const ahead = moment.getTime() - now;
  const minutes = `${Math.floor(Math.abs(ahead) / MINUTE)} min`;
  // The clock of the screen is up to half a minute late: what just happened may seem to be ahead.
  if (Math.abs(ahead) < MINUTE) return ahead > MINUTE / 2 ? labels.soon : labels.justNow;
  if (Math.abs(ahead) < HOUR) return ahead > 0 ? labels.ahead(minutes) : labels.ago(minutes);
  const days = daysBetween(moment, new Date(now));
  const near = { 1: labels.near.yesterday, 0: labels.near.today, [-1]: labels.near.tomorrow }[days];
  if (near) return `${near}, ${CLOCK.format(moment)}`;
  if (days < 0 && days > -7) return `${WEEKDAY.format(moment)}, ${CLOCK.format(moment)}`;
  return formatRelative(at, now);
}

/** Say exactly when something was. */
export function formatExact(at: string): string {
  return EXACT.format(new Date(at));
}

/** Name the day of a moment, for groups: today, yesterday, a weekday, a month. */
export function formatDayGroup(at: string, now: number): string {
  const moment = new Date(at);
  const days = daysBetween(moment, new Date(now));
  if (days <= 0) return labels.days.today;
  if (days === 1) return labels.days.yesterday;
  if (days < 7) return WEEKDAY.format(moment);
  const isThisYear = moment.getFullYear() === new Date(now).getFullYear();
  return moment.toLocaleDateString(undefined, isThisYear ? { month: "long" } : { month: "long", year: "numeric" });
}

/** Name the day of a moment by its date, unless it is a near one. */
export function formatDate(at: string, now: number): string {
  const days = daysBetween(new Date(at), new Date(now));
  return days >= 0 && days <= 1 ? formatDayGroup(at, now) : LONG.format(new Date(at));
}

/** Say how long something took. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return `${(ms / HOUR).toFixed(1)} h`;
}

/** Say how many tokens there are: 812, 12.4k, 1.2M. */
export function formatCount(amount: number): string {
  if (amount < 1000) return String(amount);
  const [size, unit] = amount < 1_000_000 ? [1000, "k"] : [1_000_000, "M"];
  return `${(amount / size).toFixed(amount / size < 100 ? 1 : 0).replace(/\.0$/, "")}${unit}`;
}

/** Say what something costs, in dollars; small sums keep two figures that count. */
export function formatDollars(cost: string | null): string {
  if (cost === null) return common.unknown;
  const sum = Number(cost);
  return `$${sum !== 0 && sum < 0.01 ? sum.toPrecision(2) : sum.toFixed(2)}`;
}

/** Say how big a file is. */
export function formatBytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 ** 2) return `${Math.round(size / 1024)} kB`;
  const step = Math.min(3, Math.floor(Math.log2(size) / 10) - 1);
  return `${(size / 1024 ** (step + 1)).toFixed(1)} ${["", "MB", "GB", "TB"][step] ?? ""}`;
}

function daysBetween(from: Date, to: Date): number {
  const start = (formatDate: Date): number => new Date(formatDate.getFullYear(), formatDate.getMonth(), formatDate.getDate()).getTime();
  return Math.round((start(to) - start(from)) / (24 * HOUR));
}
