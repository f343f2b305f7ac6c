import { expect, test } from "vitest";
import { findSentenceEnd, getLastLine, toSpokenText } from "./screen_reader.ts";

test("Only whole sentences and lines are said.", () => {
  const text = "One. Two is 3.5 long. And thr";
  expect(text.slice(0, findSentenceEnd(text, 0))).toBe("One. Two is 3.5 long.");
  expect(findSentenceEnd(text, 21)).toBe(21);
  expect(findSentenceEnd("- a\n- b", 0)).toBe(4);
  expect(findSentenceEnd("你好。 再", 0)).toBe(3);
});

test("Signs, code and addresses are not said.", () => {
  expect(toSpokenText("## **Bold** and `x` [page](https://example.org)\n```py\ncode\n```\nend")).toBe("Bold and x page end");
  expect(toSpokenText("open ```py\ncode")).toBe("open");
});

test("What is very long is cut.", () => {
  expect(toSpokenText("word ".repeat(1000)).length).toBeLessThan(700);
});

test("The last line is the last that says something.", () => {
  expect(getLastLine("one\n two \n\n")).toBe("two");
  expect(getLastLine("")).toBe("");
});
