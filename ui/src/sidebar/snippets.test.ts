import { describe, expect, it } from "vitest";
import { splitSnippet } from "./snippets.ts";

const marked = (text: string, ranges: [number, number][]): string =>
  splitSnippet({ text, ranges })
    .map(({ text: said, isHit }) => (isHit ? `[${said}]` : said))
    .join("");

describe("a snippet", () => {
  it("is cut where something was found", () => {
    expect(marked("remember the number 7", [[13, 19]])).toBe("remember the [number] 7");
    expect(marked("one two", [[0, 3], [4, 7]])).toBe("[one] [two]");
  });

  it("counts characters, not halves of them", () => {
    expect(marked("😀😀 hay 😀", [[3, 6]])).toBe("😀😀 [hay] 😀");
    expect(marked("你好世界", [[2, 4]])).toBe("你好[世界]");
  });

  it("takes ranges in any order, also such that touch or overlap", () => {
    expect(marked("abcdef", [[3, 5], [0, 2]])).toBe("[ab]c[de]f");
    expect(marked("abcdef", [[0, 3], [2, 5]])).toBe("[abc][de]f");
  });

  it("is whole where nothing was found in it", () => {
    expect(splitSnippet({ text: "abc", ranges: [] })).toEqual([{ text: "abc", isHit: false }]);
    expect(splitSnippet({ text: "", ranges: [] })).toEqual([]);
  });
});
