// Usage totals, and the bars of the chart, one for each day or month.

import type { CostStatus, UsageView } from "../../api/schema.ts";

export type Measure = "cost" | "tokens";
export type Period = "week" | "month" | "quarter" | "year" | "all";

export interface UsageTotal {
  calls: number;
  unpriced: number;
  input: number;
  output: number;
  /** Null: nothing is known of any of it. */
  cost: number | null;
  status: CostStatus;
}

export interface UsageBar extends UsageTotal {
  /** `2026-03-01` or `2026-03`. */
  name: string;
}

/** Each sum goes over a whole period: it is added up anew no more often than this. */
export const REFRESH_MS = 15_000;
const DAYS: Readonly<Record<Exclude<Period, "all">, number>> = { week: 7, month: 30, quarter: 90, year: 365 };
/** More bars than this would be too thin to be seen. */
const MOST_BARS = 100;
const NOTHING: UsageTotal = { calls: 0, unpriced: 0, input: 0, output: 0, cost: 0, status: "exact" };

/** Tell where a period begins: with a whole day by the clock of this place; null: at the beginning. */
export function getPeriodStart(period: Period, now: Date): Date | null {
  if (period === "all") return null;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS[period] + 1);
}

/** Add up what was spent. */
export function sumUsage(items: readonly UsageView[]): UsageTotal {
  return items.map(toTotal).reduce(addTotals, { ...NOTHING, cost: items.length > 0 ? null : 0 });
}

/** Make the bars between two days, the last one included; where these are many, one for each month. */
export function createBars(items: readonly UsageView[], from: Date | null, to: Date): readonly UsageBar[] {
  const [earliest] = items;
  const first = from ?? (earliest ? parseDay(earliest.subject) : to);
  const days: UsageBar[] = [];
  const known = new Map(items.map((item) => [item.subject, toTotal(item)]));
  for (let day = first; day <= to; day = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1)) {
    const name = formatDay(day);
    days.push({ name, ...(known.get(name) ?? NOTHING) });
  }
  return days.length > MOST_BARS ? groupByMonth(days) : days;
}

/** Take what a bar is as high as. */
export function getBarHeight(sum: UsageTotal, measure: Measure): number {
  return measure === "cost" ? (sum.cost ?? 0) : sum.input + sum.output;
}

function groupByMonth(days: readonly UsageBar[]): readonly UsageBar[] {
  const months = new Map<string, UsageBar>();
  for (const day of days) {
    const name = day.name.slice(0, 7);
    months.set(name, { name, ...addTotals(months.get(name) ?? NOTHING, day) });
  }
  return [...months.values()];
}

function toTotal(item: UsageView): UsageTotal {
  const { calls, unpriced, input_tokens: input, output_tokens: output } = item;
  const cost = item.cost === null ? null : Number(item.cost);
  return { calls, unpriced, input, output, cost, status: item.cost_status };
}

function addTotals(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    calls: one.calls + other.calls,
    unpriced: one.unpriced + other.unpriced,
    input: one.input + other.input,
    output: one.output + other.output,
    cost: one.cost === null ? other.cost : one.cost + (other.cost ?? 0),
    status: [one, other].some(({ status }) => status !== "exact") ? "estimated" : "exact",
  };
}

function formatDay(day: Date): string {
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

function parseDay(name: string): Date {
  const [year = 0, month = 1, day = 1] = name.split("-").map(Number);
  return new Date(year, month - 1, day);
}
