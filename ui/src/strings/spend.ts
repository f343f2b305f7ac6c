import type { CapKind } from "../api/schema.ts";

const caps: Readonly<Record<CapKind, string>> = {
  person_day: "One person, in a day",
  person_month: "One person, in a month",
  session: "One conversation, in total",
  day: "Everybody together, in a day",
  month: "Everybody together, in a month",
};

export const spend = {
  title: "Spend",
  intro: "What the models cost, in US dollars.",
  period: "Period",
  periods: { week: "7 days", month: "30 days", quarter: "90 days", year: "A year", all: "All" },
  measure: "Measured in",
  measures: { cost: "Cost", tokens: "Tokens" },
  total: (cost: string, calls: number, tokens: string) =>
    `${cost} for ${calls === 1 ? "1 call" : `${calls.toLocaleString()} calls`} with ${tokens} tokens`,
  unpriced: (many: number) =>
    many === 1
      ? "The cost of 1 call is unknown; it counts as zero here."
      : `The cost of ${many.toLocaleString()} calls is unknown; they count as zero here.`,
  nothing: { title: "Nothing spent", text: "Once a model answers, its cost appears here." },
  days: "By day",
  months: "By month",
  asTable: "As a table",
  chart: (what: string, most: string) => `${what}, at most ${most}`,
  columns: {
    when: "When",
    calls: "Calls",
    input: "Tokens in",
    output: "Tokens out",
    cost: "Cost",
  },
  by: { model: "By model", person: "By person", session: "By conversation", task: "By task" },
  first: { model: "Model", person: "Person", session: "Conversation", task: "Task" },
  unknown: { model: "An unknown model", person: "Nobody known", session: "No conversation", task: "No task" },
  estimated: "at least, estimated",
  caps: {
    title: "Caps",
    none: "No caps. You can set one for a person, a conversation or everybody in the settings.",
    settings: "Set caps",
    kinds: caps,
    spent: (spent: string, limit: string) => `${spent} of ${limit}`,
    period: "Resets",
    refused: "The cap is reached.",
    warned: "Nearly used up.",
    of: (kind: string, who: string) => `${kind}: ${who}`,
  },
};
