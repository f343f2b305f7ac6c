import { expect, test } from "vitest";
import type { MessageView, ToolCallPart, ToolResultPart } from "../../api/schema.ts";
import {
  formatJson,
  getCallDuration,
  getCallState,
  getMainArgument,
  hasCall,
  stripTerminalCodes,
} from "./tool_calls.ts";

test.each([
  ['{"timeout": 5, "command": "ls -l"}', "ls -l"],
  ['{"path": "a.txt", "query": "x"}', "x"],
  ['{"odd": "value"}', "value"],
  ['{"command": ["git", "status"]}', "git status"],
  ['{"command": "", "n": 3}', "3"],
  ['{"nested": {"a": 1}}', ""],
  ["{}", ""],
  ['"just words"', "just words"],
  ["no json {", "no json {"],
  ['{"command": "a\\n  b"}', "a b"],
])("The key argument of %s is %j.", (json, argument) => {
  expect(getMainArgument(json)).toBe(argument);
});

test("A long argument is cut.", () => {
  const argument = getMainArgument(JSON.stringify({ command: "x".repeat(100_000) }));
  expect(argument).toHaveLength(120);
  expect(argument.endsWith("…")).toBe(true);
});

test("Input is laid out if it is JSON, and left alone if not.", () => {
  expect(formatJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(formatJson('{"a":')).toBe('{"a":');
});

test.each([
  ["\u001B[1;31mred\u001B[0m", "red"],
  ["\u001B]0;title\u0007text", "text"],
  ["\u001B]8;;https://example.org\u001B\\link\u001B]8;;\u001B\\", "link"],
  ["10 %\r50 %\r100 %\ndone", "100 %\ndone"],
  ["a\r\nb", "a\nb"],
  ["tab\tand\nline stay", "tab\tand\nline stay"],
  ["bell\u0007 null\u0000", "bell null"],
  ["\u001B", ""],
])("%j reads %j.", (text, plain) => {
  expect(stripTerminalCodes(text)).toBe(plain);
});

test("A call runs, is done, failed, or lost.", () => {
  const result: ToolResultPart = { type: "tool_result", call_id: "1", text: "", is_error: false };
  expect(getCallState(undefined, "running")).toBe("running");
  expect(getCallState(undefined, "waiting")).toBe("waiting");
  expect(getCallState(undefined, null)).toBe("lost");
  expect(getCallState(result, "running")).toBe("done");
  expect(getCallState({ ...result, is_error: true }, null)).toBe("failed");
});

const call: ToolCallPart = { type: "tool_call", id: "c1", name: "run", arguments: "{}" };

function line(seq: number, at: string, part: MessageView["parts"][number], role: MessageView["role"]): MessageView {
  const rest = { turn_id: 1, sender_id: null, sender_name: null, arrived_at: null, changed_at: null, deleted_at: null };
  return { key: seq, session_id: "s", seq, role, parts: [part], at, ...rest };
}

test("A call took as long as its answer came later.", () => {
  const asked = line(1, "2026-01-01T00:00:00Z", call, "assistant");
  const result = { type: "tool_result", call_id: "c1", text: "", is_error: false } as const;
  const answer = line(2, "2026-01-01T00:00:02Z", result, "tool");
  expect(getCallDuration(call, asked, [asked, answer])).toBe(2000);
  expect(getCallDuration(call, asked, [asked])).toBeNull();
  expect([hasCall("c1", [asked, answer]), hasCall("c1", [answer])]).toEqual([true, false]);
});
