import { expect, test } from "vitest";
import { countFirstRows, countLines, getFirstLines, isFolded, splitText, truncateText } from "./truncation.ts";

test.each([
  ["", 0],
  ["a", 1],
  ["a\n", 1],
  ["a\nb", 2],
  ["\n\n", 2],
])("%j has %i lines", (text, lines) => {
  expect(countLines(text)).toBe(lines);
});

test("The first lines are those, or all there are.", () => {
  expect(getFirstLines("a\nb\nc", 2)).toBe("a\nb");
  expect(getFirstLines("a\nb", 2)).toBe("a\nb");
  expect(getFirstLines("a", 5)).toBe("a");
});

test("Forty lines are shown, more are folded.", () => {
  expect([40, 41].map(isFolded)).toEqual([false, true]);
});

test("A beginning ends between paragraphs, lines or words, and never within a sign.", () => {
  expect(truncateText("short", 10)).toBe("short");
  expect(truncateText("first part\n\nsecond part", 20)).toBe("first part");
  expect(truncateText("first line\nsecond line", 18)).toBe("first line");
  expect(truncateText("one two three", 9)).toBe("one two");
  expect(truncateText("ab🙂🙂", 5)).toBe("ab🙂");
});

test.each([["one\ntwo\nthree", 8], ["no line at all, only words", 9], ["🙂".repeat(10), 5], ["", 4]])(
  "Cut into pieces, nothing of %j is lost.",
  (text, length) => {
    const pieces = splitText(text, length);
    expect(pieces.join("")).toBe(text);
    expect(pieces.every((piece) => piece.length > 0 && piece.length <= length + 1)).toBe(true);
  },
);

test("Pieces end with a line.", () => {
  expect(splitText("one\ntwo\nthree", 8)).toEqual(["one\ntwo\n", "three"]);
});

test("The more columns a table has, the fewer rows are shown at first.", () => {
  expect([2, 10, 40, 1000].map(countFirstRows)).toEqual([100, 40, 10, 10]);
});
