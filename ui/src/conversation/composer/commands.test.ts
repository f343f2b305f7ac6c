import { describe, expect, it } from "vitest";
import {
  type Command,
  completeCommand,
  formatCommand,
  isCommandText,
  needsArguments,
  parseCommand,
  wrapIndex,
} from "./commands.ts";

const KNOWN: readonly Command[] = [
  { name: "new", arguments: "[title]", help: "Begin a new conversation" },
  { name: "undo", arguments: "[n]", help: "Take back what you said last" },
  { name: "redo", arguments: "", help: "Bring back what was undone last" },
  { name: "steer", arguments: "<words>", help: "Say something to the agent while it works" },
];
const names = (text: string, caret = text.length): string[] =>
  completeCommand(text, caret, KNOWN).map((one) => one.name);

describe("parse", () => {
  it("reads a name, whatever follows it", () => {
    expect(parseCommand("/undo 2", KNOWN)).toBe(KNOWN[1]);
    expect(parseCommand("  /NEW  My title \n", KNOWN)).toBe(KNOWN[0]);
    expect(parseCommand("/steer\nsecond", KNOWN)).toBe(KNOWN[3]);
  });

  it("leaves words that only look like a command", () => {
    for (const text of ["/usr/bin/env is missing", "/unknown", "undo", "say /undo", "/", ""]) {
      expect(parseCommand(text, KNOWN)).toBeNull();
    }
  });
});

describe("complete", () => {
  it("offers everything after a slash, and less with each letter", () => {
    expect(names("/")).toEqual(["new", "undo", "redo", "steer"]);
    expect(names("/r")).toEqual(["redo", "steer"]);
    expect(names("/UN")).toEqual(["undo"]);
    expect(names("/do")).toEqual(["undo", "redo"]);
  });

  it("offers nothing once the name is written, or where the caret is elsewhere", () => {
    expect(names("/undo ")).toEqual([]);
    expect(names("/undo", 2)).toEqual([]);
    expect(names("hello /un")).toEqual([]);
    expect(names("/xyz")).toEqual([]);
  });
});

describe("a chosen command", () => {
  it("is written ready for its words", () => {
    expect(KNOWN.map(formatCommand)).toEqual(["/new ", "/undo ", "/redo", "/steer "]);
    expect(KNOWN.map(needsArguments)).toEqual([false, false, false, true]);
  });
});

describe("step", () => {
  it("goes around at the ends", () => {
    expect([wrapIndex(0, -1, 4), wrapIndex(3, 1, 4), wrapIndex(1, 1, 4), wrapIndex(0, 1, 0)]).toEqual([3, 0, 2, 0]);
  });
});

describe("isOrder", () => {
  it("knows what is written as a command from other words, before the commands themselves are known", () => {
    expect(["/new", " /new one", "/nothing"].map(isCommandText)).toEqual([true, true, true]);
    expect(["new", "/", "/usr/bin", "a /new"].map(isCommandText)).toEqual([false, false, false, false]);
  });
});
