import { expect, test } from "vitest";
import { NO_BLOCKS, splitBlocks } from "./blocks.ts";

const DOCUMENTS = [
  "# Title\n\nA paragraph\nof two lines.\n\nAnother.\n\n- one\n- two\n\n  more of two\n\n1. a\n2. b\n\n3. c\n\nEnd",
  "1. a\n\n2. b\n\n3. c\n\nand then\n\n10) x\n\n11) y\n",
  "Text:\n- a\n  - b\n    ```py\n    x = 1\n\n    y = 2\n    ```\n- c\n\n***\n\nrest",
  "```python\nfor x in y:\n\n    print(x)\n```\nafter\n\n~~~\nopen to the end\n\n# no heading",
  "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\n> quote\nlazy\n\n> another\n\nSetext\n===\n\n    indented\n\n    b\n",
  "Before\n\n$$\n\\sum_{i=1}^n i\n$$\n\n\\[\nx\n\\]\nafter\n\n<details>\n<summary>x</summary>\n\nin\n\n</details>",
  "See [the page][1] and [other].\n\n[1]: https://example.org\n[other]: https://example.net 'Title'\n\nLast *words*",
  "<details>\n<summary>x</summary>\n\none\n\n<details>\n\ntwo\n\n</details>\n\n</details>\n\nout\n\n<details>\n\nopen",
  "- a long item of a list\n".repeat(400) + "\nafter\n\n" + "word ".repeat(1300) + "\n\nend",
  "مرحبا بالعالم\n\n- 你好\n- 🙂 👩‍👩‍👧\n\nÄÖÜ **fett** text\n\n---\n\nend\n",
];

test.each(DOCUMENTS)("However a text comes in, its blocks are the same: %#.", (text) => {
  for (const step of text.length > 1000 ? [997, 1999] : [1, 2, 3, 7, 19]) {
    let grown = NO_BLOCKS;
    for (let end = step; end < text.length + step; end += step) {
      grown = splitBlocks(text.slice(0, end), grown);
      expect(grown.blocks, text.slice(0, end)).toEqual(splitBlocks(text.slice(0, end)).blocks);
    }
    expect(Object.keys(grown.links)).toEqual(Object.keys(splitBlocks(text).links));
  }
});

test.each(DOCUMENTS)("Blocks lie where they say: %#.", (text) => {
  for (const { at, raw } of splitBlocks(text).blocks) expect(text.slice(at, at + raw.length)).toBe(raw);
});

test("Settled blocks stay the very same, so that nothing of them is drawn again.", () => {
  const before = splitBlocks("one\n\ntwo\n\nthree\n\nfour");
  const after = splitBlocks("one\n\ntwo\n\nthree\n\nfour and more", before);
  expect(after.blocks[0]).toBe(before.blocks[0]);
  expect(after.blocks[1]).toBe(before.blocks[1]);
  expect(after.blocks[3]?.raw).toBe("four and more");
});

test("A text that did not grow but changed is split anew.", () => {
  expect(splitBlocks("new", splitBlocks("old\n\nwords")).blocks).toEqual([{ at: 0, raw: "new" }]);
});

test("Line ends of other systems are line ends.", () => {
  expect(splitBlocks("a\r\n\r\nb\rc").blocks.map((block) => block.raw)).toEqual(["a", "b\nc"]);
});

test("Details are one block with what stands in them, however deep.", () => {
  const inner = "<details>\n\ntwo\n\n</details>";
  const { blocks } = splitBlocks(`before\n\n<details>\n<summary>x</summary>\n\none\n\n${inner}\n\n</details>\n\nafter`);
  expect(blocks.map(({ raw }) => raw.trim().slice(0, 9))).toEqual(["before", "<details>", "after"]);
});

test("Details that nobody closes do not swallow a long text.", () => {
  expect(splitBlocks(`<details>\n\n${"one\n\n".repeat(5000)}`).blocks.length).toBe(5001);
});

test("A long list comes in pieces that go on with each other, and all of them are lists.", () => {
  const { blocks } = splitBlocks("1. item of a list\n".repeat(2400));
  expect(blocks.length).toBeGreaterThan(8);
  expect(blocks.every(({ raw }) => raw.startsWith("1. ") && raw.length <= 4000)).toBe(true);
  expect(blocks.map(({ isMore }) => isMore ?? false)).toEqual(blocks.map((_, n) => n > 0));
});

test("A table tells how large it is.", () => {
  expect(splitBlocks("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |").blocks[0]?.size).toEqual({ rows: 2, columns: 2 });
});
