import { expect, it } from "vitest";
import { splitQuestion } from "./question_text.ts";

it("parts words from what an agent wants to do", () => {
  expect(splitQuestion("May I use this tool?\n\n```\nshell\n  command: rm -r x\n```")).toEqual([
    { kind: "words", text: "May I use this tool?" },
    { kind: "code", text: "shell\n  command: rm -r x" },
  ]);
});

it("lets a longer fence hold a shorter one", () => {
  const inner = "```\ninside\n```";
  expect(splitQuestion(`Look:\n\n\`\`\`\`\n${inner}\n\`\`\`\`\nWell?`)).toEqual([
    { kind: "words", text: "Look:" },
    { kind: "code", text: inner },
    { kind: "words", text: "Well?" },
  ]);
});

it("shows what is never closed, and plain words", () => {
  expect(splitQuestion("~~~\nopen")).toEqual([{ kind: "code", text: "open" }]);
  expect(splitQuestion("Which one?")).toEqual([{ kind: "words", text: "Which one?" }]);
  expect(splitQuestion("")).toEqual([]);
});

it("hides nothing behind a fence, and no empty line in one", () => {
  expect(splitQuestion("```rm -r x\n\nls\n\n```")).toEqual([{ kind: "code", text: "rm -r x\n\nls\n" }]);
});
