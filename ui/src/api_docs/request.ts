// The request of a form, and the same as a curl command.

import type { Field, Operation } from "./openapi.ts";

/** What was filled in. */
export type FieldValues = ReadonlyMap<Field, string>;

/** One request, without what shows who asks. */
export interface ApiRequest {
  method: string;
  address: string;
  headers: Readonly<Record<string, string>>;
  body: string | File | null;
  isStream: boolean;
}

/** Make the request of what was filled in; what is empty is left out. */
export function buildRequest(operation: Operation, values: FieldValues, body: string | File | null): ApiRequest {
  return {
    method: operation.method,
    address: buildUrl(operation, values),
    headers: buildHeaders(values, body),
    body,
    isStream: operation.isStream,
  };
}

/** Fill in the path, in which an empty place keeps its name, and the query. */
export function buildUrl({ path }: Operation, values: FieldValues): string {
  const search = new URLSearchParams();
  let address = path;
  for (const [field, value] of values) {
    if (value === "") continue;
    if (field.where === "path") address = address.replace(`{${field.name}}`, () => encodeURIComponent(value));
    if (field.where === "query") for (const one of splitValues(field, value)) search.append(field.name, one);
  }
  return search.size > 0 ? `${address}?${search}` : address;
}

function splitValues({ kind }: Field, value: string): string[] {
  if (kind !== "list") return [value];
  return value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function buildHeaders(values: FieldValues, body: string | File | null): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [{ name, where }, value] of values) {
    if (where === "header" && value !== "") headers[name] = value;
  }
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  if (body instanceof File) headers["Content-Type"] = body.type || "application/octet-stream";
  return headers;
}

/** Write the line that asks for the same; the token is never in it. */
export function formatCurl(request: ApiRequest, origin: string): string {
  const { method, address, headers, body, isStream } = request;
  const lines = [`curl${isStream ? " -N" : ""} -X ${method} ${quoteShell(origin + address)}`];
  lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoteShell(`${name}: ${value}`)}`);
  // Neither reads a file where the text itself begins with an @.
  if (typeof body === "string") lines.push(`--data-raw ${quoteShell(body)}`);
  if (body instanceof File) lines.push(`--data-binary ${quoteShell(`@${body.name}`)}`);
  return lines.join(" \\\n  ");
}

/** Quote a text so that a shell reads it as it is. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
