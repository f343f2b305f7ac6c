import { expect, it } from "vitest";
import { pieces } from "./question.ts";

it("parts words from what an agent wants to do", () => {
  expect(pieces("May I use this tool?\n\n```\nshell\n  command: rm -r x\n```")).toEqual([
    { kind: "words", text: "May I use this tool?" },
    { kind: "code", text: "shell\n  command: rm -r x" },
  ]);
});

it("lets a longer fence hold a shorter one", () => {
  const inner = "```\ninside\n```";
  expect(pieces(`Look:\n\n\`\`\`\`\n${inner}\n\`\`\`\`\nWell?`)).toEqual([
    { kind: "words", text: "Look:" },
    { kind: "code", text: inner },
    { kind: "words", text: "Well?" },
  ]);
});

it("shows what is never closed, and plain words", () => {
  expect(pieces("~~~\nopen")).toEqual([{ kind: "code", text: "open" }]);
  expect(pieces("Which one?")).toEqual([{ kind: "words", text: "Which one?" }]);
  expect(pieces("")).toEqual([]);
});
