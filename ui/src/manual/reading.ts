// What an answer says: problems in words, JSON set out, and the events of a stream.

/** What went wrong, as the server tells it. */
export interface Told {
  title: string;
  detail: string;
  id: string | null;
  hint: string | null;
  /** What is wrong with which field. */
  errors: readonly { field: string; message: string }[];
}

/** One event of a stream. */
export interface Happening {
  name: string;
  id: string;
  data: string;
}

/** Read a problem; an answer of another kind is none. */
export function readProblem(type: string, text: string): Told | null {
  if (!type.startsWith("application/problem+json")) return null;
  const told = parsed(text);
  if (!isObject(told)) return null;
  return {
    title: textOf(told["title"]) ?? "",
    detail: textOf(told["detail"]) ?? "",
    id: textOf(told["id"]),
    hint: textOf(told["hint"]),
    errors: Array.isArray(told["errors"]) ? told["errors"].filter(isObject).map(fault) : [],
  };
}

/** Set JSON out over lines; anything else stays as it is. */
export function setOut(type: string, text: string): string {
  if (!/[/+]json\b/.test(type)) return text;
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** Tell whether an answer is made of words. */
export function isText(type: string): boolean {
  return /^text\/|[/+](json|x-ndjson|xml)\b/.test(type);
}

/** Say why a text is no JSON; nothing if it is. */
export function faultOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Puts the events of a stream together, wherever it was cut into pieces. */
export class Ear {
  #rest = "";

  /** Take the next piece, and answer the events that are whole with it. */
  hear(piece: string): Happening[] {
    const blocks = (this.#rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(happening).filter((one) => one.data !== "");
  }
}

function happening(block: string): Happening {
  const read = { event: "message", id: "", data: [] as string[] };
  for (const line of block.split("\n")) {
    const [, key, value = ""] = /^(\w+):? ?(.*)$/.exec(line) ?? [];
    if (key === "data") read.data.push(value);
    if (key === "event" || key === "id") read[key] = value;
  }
  return { name: read.event, id: read.id, data: read.data.join("\n") };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : null;
}

function fault(given: Record<string, unknown>): { field: string; message: string } {
  return { field: textOf(given["field"]) ?? "", message: textOf(given["message"]) ?? "" };
}
