// References within the OpenAPI document.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Return the value at a path of the document with its references replaced by what they refer to. `$$ref` names what was
 * replaced, as the viewer expects. A reference to a value that contains it, and one to nothing, stays.
 */
export function resolveReferences(document: Json, path: readonly string[]): Json {
  return resolve(document, find(document, path) ?? null, []);
}

function resolve(document: Json, value: Json, open: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item) => resolve(document, item, open));
  if (typeof value !== "object" || value === null) return value;
  const { $ref, ...rest } = value;
  if (typeof $ref === "string" && $ref.startsWith("#/")) {
    const target = open.includes($ref) ? undefined : find(document, $ref.slice(2).split("/"));
    if (typeof target !== "object" || target === null || Array.isArray(target)) return value;
    const resolved = resolve(document, target, [...open, $ref]);
    return { ...(resolved as { [key: string]: Json }), ...rest, $$ref: $ref };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(document, item, open)]));
}

function find(document: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const key of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = value[key];
  }
  return value;
}
