// What a form asks for: the address, the headers and the body, and the same as a line for a terminal.

import type { Field, Operation } from "./description.ts";

/** What was filled in. */
export type Filled = ReadonlyMap<Field, string>;

/** One request, without what shows who asks. */
export interface Asking {
  method: string;
  address: string;
  headers: Readonly<Record<string, string>>;
  body: string | File | null;
  isStream: boolean;
}

/** Make the request of what was filled in; what is empty is left out. */
export function ask(operation: Operation, filled: Filled, body: string | File | null): Asking {
  return {
    method: operation.method,
    address: addressOf(operation, filled),
    headers: headersOf(filled, body),
    body,
    isStream: operation.isStream,
  };
}

/** Fill in the path, in which an empty place keeps its name, and the query. */
export function addressOf({ path }: Operation, filled: Filled): string {
  const search = new URLSearchParams();
  let address = path;
  for (const [field, value] of filled) {
    if (value === "") continue;
    if (field.where === "path") address = address.replace(`{${field.name}}`, () => encodeURIComponent(value));
    if (field.where === "query") for (const one of valuesOf(field, value)) search.append(field.name, one);
  }
  return search.size > 0 ? `${address}?${search}` : address;
}

function valuesOf({ kind }: Field, value: string): string[] {
  if (kind !== "list") return [value];
  return value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function headersOf(filled: Filled, body: string | File | null): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [{ name, where }, value] of filled) {
    if (where === "header" && value !== "") headers[name] = value;
  }
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  if (body instanceof File) headers["Content-Type"] = body.type || "application/octet-stream";
  return headers;
}

/** Write the line that asks for the same; the token is never in it. */
export function writeCurl(asking: Asking, origin: string): string {
  const { method, address, headers, body, isStream } = asking;
  const lines = [`curl${isStream ? " -N" : ""} -X ${method} ${quoted(origin + address)}`];
  lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  // Neither reads a file where the text itself begins with an @.
  if (typeof body === "string") lines.push(`--data-raw ${quoted(body)}`);
  if (body instanceof File) lines.push(`--data-binary ${quoted(`@${body.name}`)}`);
  return lines.join(" \\\n  ");
}

/** Quote a text so that a shell reads it as it is. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
