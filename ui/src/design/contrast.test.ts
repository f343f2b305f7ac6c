import { describe, expect, it } from "vitest";
import row from "../conversation/transcript/TranscriptRow.svelte?raw";
import tokens from "./tokens.css?raw";

const found = tokens.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g);
const colors = new Map([...found].map(([, name = "", light = "", dark = ""]) => [name, { light, dark }]));
const PAPERS = ["paper", "paper-sunk", "paper-raised", "paper-hover", "paper-chosen"];
const THEMES = ["light", "dark"] as const;

function luminance(color: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string, theme: "light" | "dark"): number {
  const [low = 0, high = 0] = [one, other]
    .map((name) => luminance(colors.get(name)?.[theme] ?? "#808080"))
    .sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** List the pairs that are too near to each other. */
function faint(pairs: readonly (readonly [string, string])[], least: number): readonly string[] {
  return THEMES.flatMap((theme) =>
    pairs
      .filter(([one, other]) => contrast(one, other, theme) < least)
      .map(([one, other]) => `${one} on ${other} (${theme}): ${contrast(one, other, theme).toFixed(2)}`),
  );
}

const each = (inks: readonly string[], papers: readonly string[]): (readonly [string, string])[] =>
  inks.flatMap((ink) => papers.map((paper) => [ink, paper] as const));

describe("the colours", () => {
  it("let words be read on every paper", () => {
    const inks = ["ink", "ink-soft", "ink-faint", "accent", "danger", "warning", "good", "person"];
    expect(faint(each(inks, PAPERS), 4.5)).toEqual([]);
    expect(faint(each(["ink", "ink-soft"], ["accent-soft", "danger-soft", "warning-soft", "mark"]), 4.5)).toEqual([]);
    expect(faint([["danger", "danger-soft"], ["warning", "warning-soft"], ["accent-ink", "accent"]], 4.5)).toEqual([]);
  });

  it("are not thinned where somebody reads what was undone", () => {
    expect(row).toMatch(/\.undone \{\s+color: var\(--ink-soft\);\s+\}/);
  });

  it("let marks and edges be seen", () => {
    const projects = [...colors.keys()].filter((name) => name.startsWith("project-"));
    expect(projects).toHaveLength(9);
    expect(faint(each(["rule-strong", "tool", ...projects], PAPERS), 3)).toEqual([]);
  });
});
