import { expect, test } from "vitest";
import { ALIASES, getLanguage, LANGUAGES } from "./highlight.ts";
import source from "./highlight_worker.ts?raw";

test.each([
  ["py", "python"],
  ["python", "python"],
  ["c++", "cpp"],
  ["brainfuck", null],
  ["", null],
  ["constructor", null],
])("The colours of %j are those of %j.", (language, name) => {
  expect(getLanguage(language)).toBe(name);
});

test("Whatever the page takes for known can be loaded.", () => {
  const loaded = [...source.matchAll(/^ {2}(\w+): \(\) => import/gm)].map((found) => found[1] ?? "");
  expect([...LANGUAGES].sort()).toEqual(loaded.sort());
  expect(Object.values(ALIASES).filter((name) => !LANGUAGES.has(name))).toEqual([]);
});
