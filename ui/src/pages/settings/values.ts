// Settings as they are written into fields, and read from them.

import type { SettingView } from "../../api/schema.ts";

/** How a setting is shown: what its value is decides, where its kind leaves it open. */
export type Control = "choice" | "truth" | "number" | "text" | "words" | "lines" | "data" | "secret";

const KEPT = /^(file|env):/;
const LONG = /(^|\.)(instructions|personalities\.[^.]+)$/;

/** Choose how a setting is changed. */
export function getControl({ key, kind, value, choices, secret }: SettingView): Control {
  if (secret || (typeof value === "string" && KEPT.test(value))) return "secret";
  if (choices.length > 0) return "choice";
  if (kind === "truth" || kind === "number") return kind;
  if (kind === "list") return isPlain(value) && !/(^|\.)(routing|instructions)$/.test(key) ? "lines" : "data";
  if (kind === "table") return "data";
  return LONG.test(key) ? "words" : "text";
}

/** Write a value into a field. */
export function formatValue(control: Control, value: unknown): string {
  if (value === null || value === undefined || control === "secret") return "";
  if (control === "lines" && Array.isArray(value)) return value.join("\n");
  if (control === "data") return JSON.stringify(value, null, 2);
  return String(value);
}

/** Read a field; `null` takes a setting out, `undefined` is no value that it could have. */
export function parseValue(control: Control, text: string): unknown {
  const bare = text.trim();
  if (control === "lines") return bare === "" ? [] : bare.split("\n").map((line) => line.trim()).filter(Boolean);
  if (bare === "") return null;
  if (control === "truth") return bare === "true";
  if (control === "number") return Number.isFinite(Number(bare)) ? Number(bare) : undefined;
  if (control === "data") return parsed(bare);
  return control === "words" ? text : bare;
}

/** Read what somebody wrote for any setting: numbers, lists and tables as JSON, else words. */
export function guessValue(text: string): unknown {
  return parsed(text.trim()) ?? text.trim();
}

/** Find which of some settings an error is about: it begins with its name, or has it as its id. */
export function findFaultyKey(keys: readonly string[], { detail, id }: { detail: string; id: string | null }): string | null {
  const named = /^[\w.-]+(?= )/.exec(detail)?.[0] ?? "";
  const isMeant = (key: string): boolean => [named, id].some((one) => one === key || one?.startsWith(`${key}.`));
  return keys.find(isMeant) ?? null;
}

function isPlain(value: unknown): boolean {
  return !Array.isArray(value) || value.every((one) => typeof one !== "object");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
