import { expect, test } from "vitest";
import { lastEnd, lastLine, spoken } from "./saying.ts";

test("Only whole sentences and lines are said.", () => {
  const text = "One. Two is 3.5 long. And thr";
  expect(text.slice(0, lastEnd(text, 0))).toBe("One. Two is 3.5 long.");
  expect(lastEnd(text, 21)).toBe(21);
  expect(lastEnd("- a\n- b", 0)).toBe(4);
  expect(lastEnd("你好。 再", 0)).toBe(3);
});

test("Signs, code and addresses are not said.", () => {
  expect(spoken("## **Bold** and `x` [page](https://example.org)\n```py\ncode\n```\nend")).toBe("Bold and x page end");
  expect(spoken("open ```py\ncode")).toBe("open");
});

test("What is very long is cut.", () => {
  expect(spoken("word ".repeat(1000)).length).toBeLessThan(700);
});

test("The last line is the last that says something.", () => {
  expect(lastLine("one\n two \n\n")).toBe("two");
  expect(lastLine("")).toBe("");
});
