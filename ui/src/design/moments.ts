// Moments, spans and amounts, as people say them.

import { common } from "../words/common.ts";

const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const YEAR = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: "long" });
const LONG = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const said = common.moments;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Say when something was, the shorter the longer ago. */
export function relative(at: string, now: number): string {
  const moment = new Date(at);
  const ago = now - moment.getTime();
  if (ago < MINUTE && ago > -MINUTE) return said.now;
  if (ago > 0 && ago < HOUR) return `${Math.floor(ago / MINUTE)} min`;
  const days = daysBetween(moment, new Date(now));
  if (days === 0) return CLOCK.format(moment);
  return moment.getFullYear() === new Date(now).getFullYear() ? DAY.format(moment) : YEAR.format(moment);
}

/** Say when something was or will be, so that it can stand in a sentence. */
export function told(at: string, now: number): string {
  const moment = new Date(at);
  const ahead = moment.getTime() - now;
  const minutes = `${Math.floor(Math.abs(ahead) / MINUTE)} min`;
  // The clock of the screen is up to half a minute late: what just happened may seem to be ahead.
  if (Math.abs(ahead) < MINUTE) return ahead > MINUTE / 2 ? said.soon : said.justNow;
  if (Math.abs(ahead) < HOUR) return ahead > 0 ? said.ahead(minutes) : said.ago(minutes);
  const days = daysBetween(moment, new Date(now));
  const near = { 1: said.near.yesterday, 0: said.near.today, [-1]: said.near.tomorrow }[days];
  if (near) return `${near}, ${CLOCK.format(moment)}`;
  if (days < 0 && days > -7) return `${WEEKDAY.format(moment)}, ${CLOCK.format(moment)}`;
  return relative(at, now);
}

/** Say exactly when something was. */
export function exact(at: string): string {
  return EXACT.format(new Date(at));
}

/** Name the day of a moment, for groups: today, yesterday, a weekday, a month. */
export function day(at: string, now: number): string {
  const moment = new Date(at);
  const days = daysBetween(moment, new Date(now));
  if (days <= 0) return said.days.today;
  if (days === 1) return said.days.yesterday;
  if (days < 7) return WEEKDAY.format(moment);
  const isThisYear = moment.getFullYear() === new Date(now).getFullYear();
  return moment.toLocaleDateString(undefined, isThisYear ? { month: "long" } : { month: "long", year: "numeric" });
}

/** Name the day of a moment by its date, unless it is a near one. */
export function date(at: string, now: number): string {
  const days = daysBetween(new Date(at), new Date(now));
  return days >= 0 && days <= 1 ? day(at, now) : LONG.format(new Date(at));
}

/** Say how long something took. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return `${(ms / HOUR).toFixed(1)} h`;
}

/** Say how many tokens there are: 812, 12.4k, 1.2M. */
export function count(amount: number): string {
  if (amount < 1000) return String(amount);
  const [size, unit] = amount < 1_000_000 ? [1000, "k"] : [1_000_000, "M"];
  return `${(amount / size).toFixed(amount / size < 100 ? 1 : 0).replace(/\.0$/, "")}${unit}`;
}

/** Say what something costs, in dollars; small sums keep two figures that count. */
export function dollars(cost: string | null): string {
  if (cost === null) return common.unknown;
  const sum = Number(cost);
  return `$${sum !== 0 && sum < 0.01 ? sum.toPrecision(2) : sum.toFixed(2)}`;
}

/** Say how big a file is. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  if (size < 1024 ** 2) return `${Math.round(size / 1024)} kB`;
  const step = Math.min(3, Math.floor(Math.log2(size) / 10) - 1);
  return `${(size / 1024 ** (step + 1)).toFixed(1)} ${["", "MB", "GB", "TB"][step] ?? ""}`;
}

function daysBetween(from: Date, to: Date): number {
  const start = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((start(to) - start(from)) / (24 * HOUR));
}
