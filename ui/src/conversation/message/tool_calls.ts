// The summary, input and output of a tool call.

import type { MessageView, ToolCallPart, ToolResultPart, TurnState } from "../../api/schema.ts";

// The arguments that say most about a call, the best first.
const KEYS = [
  ...["command", "cmd", "query", "q", "path", "file_path", "filename", "file", "url", "pattern"],
  ...["name", "title", "prompt", "text"],
];
const LENGTH = 120;
// Colours and moves of a terminal (CSI), titles and links (OSC), and other controls that show nothing.
const CONTROLS = new RegExp(
  [
    /\u001B\[[0-?]*[ -/]*[@-~]/,
    /\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)?/,
    /\u001B[@-Z\\^_]/,
    /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

export type CallState = "running" | "waiting" | "done" | "failed" | "lost";

/** Answer the argument that says most about a call, in one line. */
export function getMainArgument(json: string): string {
  const value = parseJson(json);
  if (!isRecord(value)) return value === undefined ? shorten(json) : toText(value);
  const key = KEYS.find((one) => toText(value[one]) !== "");
  if (key !== undefined) return toText(value[key]);
  return Object.values(value).map(toText).find((one) => one !== "") ?? "";
}

/** Write the input of a call so that a person can read it. */
export function formatJson(json: string): string {
  const value = parseJson(json);
  return value === undefined ? json : JSON.stringify(value, null, 2);
}

/** Take out of a text what only a terminal understands; a line that was overwritten shows what stood there last. */
export function stripTerminalCodes(text: string): string {
  const plain = text.replace(/\r\n/g, "\n").replace(CONTROLS, "");
  if (!plain.includes("\r")) return plain;
  return plain
    .split("\n")
    .map((line) => line.slice(line.replace(/\r+$/, "").lastIndexOf("\r") + 1).replace(/\r+$/, ""))
    .join("\n");
}

/** Tell how a call stands, and its turn, if that is still under way: it may wait for leave. */
export function getCallState(result: ToolResultPart | undefined, held: TurnState | null): CallState {
  if (!result) return held === null ? "lost" : held === "waiting" ? "waiting" : "running";
  return result.is_error ? "failed" : "done";
}

/** Find out how long a call took, in ms, by the lines that tell of it and of its answer. */
export function getCallDuration(call: ToolCallPart, line: MessageView, lines: readonly MessageView[]): number | null {
  const answer = lines.find((one) => one.role === "tool" && (one.seq ?? 0) > (line.seq ?? 0) && answers(one, call.id));
  const took = answer ? Date.parse(answer.at) - Date.parse(line.at) : 0;
  return took > 0 ? took : null;
}

/** Tell whether a call is among these lines: its answer is shown with it. */
export function hasCall(id: string, lines: readonly MessageView[]): boolean {
  return lines.some((line) => line.parts.some((part) => part.type === "tool_call" && part.id === id));
}

function answers(line: MessageView, id: string): boolean {
  return line.parts.some((part) => part.type === "tool_result" && part.call_id === id);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

function toText(value: unknown): string {
  if (typeof value === "string") return shorten(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? shorten(value.join(" ")) : "";
}

function shorten(text: string): string {
  const line = text.trim().slice(0, 4 * LENGTH).replace(/\s+/g, " ");
  return line.length > LENGTH ? `${line.slice(0, LENGTH - 1).trimEnd()}…` : line;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
