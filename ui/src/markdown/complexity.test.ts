import { expect, test } from "vitest";
import { splitBlocks } from "./blocks.ts";
import { isTooComplex, isTooDeep, measureLongestRun } from "./complexity.ts";

test.each([
  ["a long paragraph", "word ".repeat(2000), true],
  ["a long list", "- an item of a list\n".repeat(900), false],
  ["a long table", "| a | b |\n".repeat(1500), false],
  ["an endless list", "- an item of a list\n".repeat(1500), true],
  ["long code", `\`\`\`\n${"x = 1\n".repeat(20_000)}`, false],
  ["a long gap", `a${" ".repeat(5000)}b`, true],
  ["a short text", "**short**", false],
])("%s", (_, text, isTooMuch) => {
  expect(isTooComplex(text)).toBe(isTooMuch);
});

test("A run ends where a line begins something of its own.", () => {
  expect(measureLongestRun("- ab\ncd\n- e\n\nfg")).toBe(7);
});

test.each([
  "> ".repeat(5000),
  ">".repeat(400),
  "- ".repeat(5000),
  "1. ".repeat(5000),
  `${" ".repeat(200)}- x`,
  "$$\n".repeat(1000),
])("What is nested too deeply is shown as it was written: %#.", (text) => {
  expect(isTooDeep(text)).toBe(true);
  const { blocks } = splitBlocks(text);
  expect(blocks.every(({ isPlain, raw }) => isPlain && raw.length <= 4001)).toBe(true);
  expect(blocks.map(({ raw }) => raw).join("") === text).toBe(true);
});

test("Code may be deep.", () => {
  const code = `${" ".repeat(100)}- x\n`;
  const texts = [`\`\`\`\n${code}\`\`\`\n`, `~~~\n${code}`, `\`\`\`\n\`\`\`\n${code}`];
  expect(texts.map(isTooDeep)).toEqual([false, false, true]);
});

test.each([
  "------------------------------",
  "**************************",
  ">>>>>>> theirs",
  "- [ ] a\n  - b\n    - c",
  "1. 2. 3.",
])("Rules, conflicts and common lists are not deep: %j.", (text) => {
  expect(isTooDeep(text)).toBe(false);
});
