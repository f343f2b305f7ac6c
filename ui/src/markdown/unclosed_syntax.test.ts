import { expect, test } from "vitest";
import { closeSyntax } from "./unclosed_syntax.ts";

test.each([
  ["plain words", "plain words"],
  ["some **bold", "some **bold**"],
  ["some **bold** and *it", "some **bold** and *it*"],
  ["**bold with *both", "**bold with *both***"],
  ["some **", "some "],
  ["code `x = *y", "code `x = *y`"],
  ["code ``a`b", "code ``a`b``"],
  ["~~gone", "~~gone~~"],
  ["snake_case_name", "snake_case_name"],
  ["2 * 3", "2 * 3"],
  ["\\*not", "\\*not"],
  ["See [the pa", "See the pa"],
  ["See [the page](https://exam", "See the page"],
  ["See [the page](https://example.org)", "See [the page](https://example.org)"],
  ["See ![pic](htt", "See pic"],
  ["It is arr[0]", "It is arr[0]"],
  ["As told [1]", "As told [1]"],
  ["42", "42"],
  ["The answer:\n42", "The answer:\n42"],
  ["Text:\n-", "Text:"],
  ["Text\n==", "Text"],
  ["Text\n1.", "Text"],
  ["- a\n- ", "- a"],
  ["#", ""],
  ["```py\nx = 1\n``", "```py\nx = 1"],
  ["```py\nx = `", "```py\nx = `"],
  ["```py\nx", "```py\nx"],
  ["$$\n\\frac{a", "$$\n\\frac{a\n$$"],
  ["\\[\nx", "\\[\nx\n\\]"],
  ["$$\nx\n$$", "$$\nx\n$$"],
])("%j is shown as %j", (raw, shown) => {
  expect(closeSyntax(raw)).toBe(shown);
});

test("What is closed already stays as it is, whatever its length.", () => {
  const text = "**a** *b* `c` ~~d~~ [e](https://example.org) __f__ and _g_.";
  expect(closeSyntax(text)).toBe(text);
});
