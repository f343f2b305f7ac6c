// The operations of the OpenAPI document, as far as a form needs them.

/** A schema of OpenAPI, as far as it is looked at. */
export interface Schema {
  $ref?: string;
  anyOf?: readonly Schema[];
  type?: string;
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  items?: Schema;
  default?: unknown;
  examples?: readonly unknown[];
  description?: string;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Described {
  operationId: string;
  parameters?: readonly Parameter[];
  requestBody?: { content: Readonly<Record<string, { example?: unknown }>> };
  responses: Readonly<Record<string, { content?: Readonly<Record<string, unknown>> }>>;
}

/** The description as a whole. */
export interface Description {
  servers?: readonly { url: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  components?: { schemas?: Readonly<Record<string, Schema>> };
}

/** Something to fill in before an operation is asked for. */
export interface Field {
  name: string;
  where: "path" | "query" | "header";
  kind: "text" | "number" | "choice" | "list";
  /** What its values are called. */
  type: string;
  choices: readonly string[];
  isNeeded: boolean;
  /** What stands there where nothing is filled in. */
  hint: string;
  about: string;
}

/** The body that goes along: JSON with an example, or a file. */
export type Body = { kind: "json"; example: string } | { kind: "file" };

export interface Operation {
  name: string;
  method: string;
  path: string;
  fields: readonly Field[];
  body: Body | null;
  /** It answers with events for as long as somebody listens. */
  isStream: boolean;
  /** It takes something away that may not come back. */
  isDeleting: boolean;
}

/** Read all operations, by their names. */
export function readOperations(description: Description): ReadonlyMap<string, Operation> {
  const base = description.servers?.[0]?.url ?? "";
  const found = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      found.set(described.operationId, read(description, method.toUpperCase(), base + path, described));
    }
  }
  return found;
}

function read(description: Description, method: string, path: string, described: Described): Operation {
  const name = described.operationId;
  return {
    name,
    method,
    path,
    fields: (described.parameters ?? []).flatMap((one) => field(description, one) ?? []),
    body: bodyOf(described),
    isStream: Object.values(described.responses).some((one) => "text/event-stream" in (one.content ?? {})),
    isDeleting: method === "DELETE" || name.startsWith("forget_"),
  };
}

function bodyOf({ requestBody }: Described): Body | null {
  if (!requestBody) return null;
  const json = requestBody.content["application/json"];
  return json ? { kind: "json", example: JSON.stringify(json.example ?? {}, null, 2) } : { kind: "file" };
}

function field(description: Description, given: Parameter): Field | null {
  const { in: where, schema } = given;
  if (where !== "path" && where !== "query" && where !== "header") return null; // A browser sends its own cookies.
  const plain = resolve(description, schema);
  const choices = choicesOf(plain);
  return {
    name: given.name,
    where,
    kind: choices.length > 0 ? "choice" : kindOf(plain),
    type: plain.format ?? plain.type ?? "",
    choices,
    isNeeded: given.required ?? false,
    hint: hintOf(schema),
    about: given.description ?? schema.description ?? plain.description ?? "",
  };
}

/** Follow a reference, and leave out that there may be nothing. */
function resolve(description: Description, schema: Schema): Schema {
  const some = schema.anyOf?.find((one) => one.type !== "null");
  if (some) return resolve(description, some);
  const name = schema.$ref?.split("/").at(-1);
  return (name !== undefined && description.components?.schemas?.[name]) || schema;
}

function choicesOf(schema: Schema): readonly string[] {
  if (schema.enum) return schema.enum.map(String);
  if (schema.const !== undefined) return [String(schema.const)];
  return schema.type === "boolean" ? ["true", "false"] : [];
}

function kindOf({ type }: Schema): Field["kind"] {
  if (type === "array") return "list";
  return type === "integer" || type === "number" ? "number" : "text";
}

function hintOf({ default: usual, examples }: Schema): string {
  const shown = usual ?? examples?.[0];
  return shown === undefined || shown === null ? "" : String(shown);
}
