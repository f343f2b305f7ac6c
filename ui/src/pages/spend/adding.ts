// Usage added up for a chart: a bar for each day or month, also for those on which nothing was spent.

import type { CostStatus, UsageShape } from "../../api/schema.ts";

export type Measure = "cost" | "tokens";
export type Period = "week" | "month" | "quarter" | "year" | "all";

export interface Sum {
  calls: number;
  unpriced: number;
  input: number;
  output: number;
  /** Null: nothing is known of any of it. */
  cost: number | null;
  status: CostStatus;
}

export interface Bar extends Sum {
  /** `2026-03-01` or `2026-03`. */
  name: string;
}

/** Each sum goes over a whole period: it is added up anew no more often than this. */
export const PAUSE_MS = 15_000;
const DAYS: Readonly<Record<Exclude<Period, "all">, number>> = { week: 7, month: 30, quarter: 90, year: 365 };
/** More bars than this would be too thin to be seen. */
const MOST_BARS = 100;
const NOTHING: Sum = { calls: 0, unpriced: 0, input: 0, output: 0, cost: 0, status: "exact" };

/** Tell where a period begins: with a whole day by the clock of this place; null: at the beginning. */
export function beginning(period: Period, now: Date): Date | null {
  if (period === "all") return null;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS[period] + 1);
}

/** Add up what was spent. */
export function total(items: readonly UsageShape[]): Sum {
  return items.map(sumOf).reduce(plus, { ...NOTHING, cost: items.length > 0 ? null : 0 });
}

/** Make the bars between two days, the last one included; where these are many, one for each month. */
export function bars(items: readonly UsageShape[], from: Date | null, to: Date): readonly Bar[] {
  const [earliest] = items;
  const first = from ?? (earliest ? dayOf(earliest.subject) : to);
  const days: Bar[] = [];
  const known = new Map(items.map((item) => [item.subject, sumOf(item)]));
  for (let day = first; day <= to; day = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1)) {
    const name = nameOf(day);
    days.push({ name, ...(known.get(name) ?? NOTHING) });
  }
  return days.length > MOST_BARS ? byMonth(days) : days;
}

/** Take what a bar is as high as. */
export function height(sum: Sum, measure: Measure): number {
  return measure === "cost" ? (sum.cost ?? 0) : sum.input + sum.output;
}

function byMonth(days: readonly Bar[]): readonly Bar[] {
  const months = new Map<string, Bar>();
  for (const day of days) {
    const name = day.name.slice(0, 7);
    months.set(name, { name, ...plus(months.get(name) ?? NOTHING, day) });
  }
  return [...months.values()];
}

function sumOf(item: UsageShape): Sum {
  const { calls, unpriced, input_tokens: input, output_tokens: output } = item;
  const cost = item.cost === null ? null : Number(item.cost);
  return { calls, unpriced, input, output, cost, status: item.cost_status };
}

function plus(one: Sum, other: Sum): Sum {
  return {
    calls: one.calls + other.calls,
    unpriced: one.unpriced + other.unpriced,
    input: one.input + other.input,
    output: one.output + other.output,
    cost: one.cost === null ? other.cost : one.cost + (other.cost ?? 0),
    status: [one, other].some(({ status }) => status !== "exact") ? "estimated" : "exact",
  };
}

function nameOf(day: Date): string {
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

function dayOf(name: string): Date {
  const [year = 0, month = 1, day = 1] = name.split("-").map(Number);
  return new Date(year, month - 1, day);
}
