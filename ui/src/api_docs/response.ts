// Parsing of responses: problems, JSON and event streams.

/** What went wrong, as the server tells it. */
export interface ProblemDetails {
  title: string;
  detail: string;
  id: string | null;
  hint: string | null;
  /** What is wrong with which field. */
  errors: readonly { field: string; message: string }[];
}

/** One event of a stream. */
export interface ServerSentEvent {
  name: string;
  id: string;
  data: string;
}

/** Read a problem; an answer of another kind is none. */
export function parseProblemDetails(type: string, text: string): ProblemDetails | null {
  if (!type.startsWith("application/problem+json")) return null;
  const problem = parseJson(text);
  if (!isObject(problem)) return null;
  return {
    title: toText(problem["title"]) ?? "",
    detail: toText(problem["detail"]) ?? "",
    id: toText(problem["id"]),
    hint: toText(problem["hint"]),
    errors: Array.isArray(problem["errors"]) ? problem["errors"].filter(isObject).map(parseFieldError) : [],
  };
}

/** Set JSON out over lines; anything else stays as it is. */
export function formatBody(type: string, text: string): string {
  if (!/[/+]json\b/.test(type)) return text;
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** Tell whether an answer is made of words. */
export function isText(type: string): boolean {
  return /^text\/|[/+](json|x-ndjson|xml)\b/.test(type);
}

/** Say why a text is no JSON; nothing if it is. */
export function getJsonError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Puts the events of a stream together, wherever it was cut into pieces. */
export class EventStreamParser {
  #rest = "";

  /** Take the next piece, and answer the events that are whole with it. */
  push(piece: string): ServerSentEvent[] {
    const blocks = (this.#rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(parseEvent).filter((one) => one.data !== "");
  }
}

function parseEvent(block: string): ServerSentEvent {
  const read = { event: "message", id: "", data: [] as string[] };
  for (const line of block.split("\n")) {
    const [, key, value = ""] = /^(\w+):? ?(.*)$/.exec(line) ?? [];
    if (key === "data") read.data.push(value);
    if (key === "event" || key === "id") read[key] = value;
  }
  return { name: read.event, id: read.id, data: read.data.join("\n") };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toText(value: unknown): string | null {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : null;
}

function parseFieldError(given: Record<string, unknown>): { field: string; message: string } {
  return { field: toText(given["field"]) ?? "", message: toText(given["message"]) ?? "" };
}
