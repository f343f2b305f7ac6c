import { expect, test } from "vitest";
import { findBlockMath, findInlineMath } from "./math.ts";
import { renderMarkdown } from "./parse.ts";

test.each([
  ["$x$", "x"],
  ["$x, y$ are", "x, y"],
  ["$a^2 + b^2 = c^2$, so", "a^2 + b^2 = c^2"],
  ["$\\text{for all}\\ n$", "\\text{for all}\\ n"],
  ["$\\$5$", "\\$5"],
  ["$$n!$$ ways", "n!"],
  ["\\(e^{i\\pi}\\)", "e^{i\\pi}"],
])("%s is a formula", (text, tex) => {
  expect(findInlineMath(text)?.tex).toBe(tex);
});

const MONEY = ["$5 and $6", "$5-$6", "$5 and US$", "$HOME/bin:$PATH", "$HOME and $PATH"];

test.each([...MONEY, "$ x $", "$$", "$\nx$", "\\(", "$a"])(
  "%j is none",
  (text) => {
    expect(findInlineMath(text)).toBeNull();
  },
);

test.each([
  ["$$\nx\n$$\n", "x"],
  ["$$ a = b $$", "a = b"],
  ["\\[\nx\n\\]", "x"],
])("%j stands on its own lines", (text, tex) => {
  expect(findBlockMath(text)?.tex).toBe(tex);
});

test("A formula with an empty line is none, so that it never reaches over blocks.", () => {
  expect(findBlockMath("$$\nx\n\ny\n$$")).toBeNull();
});

test("Code and prices hold no formulas.", () => {
  const html = renderMarkdown("`$x$` costs $5 and $6, or US$5 to CA$6\n\n```sh\necho $a$ $$\n```\n\n    $y$");
  expect(html).not.toContain("data-math");
});

test("Formulas are found within sentences, lists and tables.", () => {
  const html = renderMarkdown("Let $n > 0$.\n\n- \\(a\\)\n\n|h|\n|-|\n|$b$|\n\ntext\n$$\nc\n$$\n");
  expect(html.match(/data-math="inline"/g)).toHaveLength(3);
  expect(html).toContain('data-math="block" dir="ltr">c<');
  expect(html).toContain("n &gt; 0");
});

test("An escaped sign is money.", () => {
  expect(renderMarkdown("\\$x$ and $y")).not.toContain("data-math");
});
