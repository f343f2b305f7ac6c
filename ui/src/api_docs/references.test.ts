import { expect, test } from "vitest";
import { type Json, resolveReferences } from "./references.ts";

const person = "#/components/schemas/Person";
const group = "#/components/schemas/Group";

function describe(schema: Json): Json {
  return {
    paths: { "/people": { get: { schema } } },
    components: {
      schemas: {
        Person: { type: "object", properties: { name: { type: "string" } } },
        Group: { type: "array", items: { anyOf: [{ $ref: person }, { $ref: group }] } },
      },
    },
  };
}

function resolved(schema: Json): Json {
  return resolveReferences(describe(schema), ["paths", "/people", "get", "schema"]);
}

const known = { type: "object", properties: { name: { type: "string" } }, $$ref: person };

test.each<[string, Json, Json]>([
  ["a reference is replaced and named", { $ref: person }, known],
  ["what stands beside it stays", { $ref: person, description: "The owner" }, { ...known, description: "The owner" }],
  [
    "a value that contains itself is replaced once",
    { $ref: group },
    { type: "array", items: { anyOf: [known, { $ref: group }] }, $$ref: group },
  ],
  ["a reference to nothing stays", { $ref: "#/components/schemas/None" }, { $ref: "#/components/schemas/None" }],
  ["other values stay", [null, 1, { type: "string" }], [null, 1, { type: "string" }]],
])("%s", (_, schema, expected) => {
  expect(resolved(schema)).toEqual(expected);
});

test("an unknown path has no value", () => {
  expect(resolveReferences(describe(null), ["paths", "/groups"])).toBeNull();
});
