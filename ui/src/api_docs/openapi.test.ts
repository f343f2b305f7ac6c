import { describe, expect, it } from "vitest";
import { type Description, type Operation, readOperations } from "./openapi.ts";

const DESCRIPTION: Description = {
  servers: [{ url: "/api" }],
  components: { schemas: { Shelf: { enum: ["sidebar", "archive"], description: "Where it is put." } } },
  paths: {
    "/sessions/{id}": {
      get: {
        operationId: "read_session",
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string", examples: ["2026_a"] } },
          { name: "shelf", in: "query", schema: { $ref: "#/components/schemas/Shelf", default: "sidebar" } },
          { name: "is_pinned", in: "query", schema: { anyOf: [{ type: "boolean" }, { type: "null" }] } },
          { name: "most", in: "query", schema: { type: "integer", default: 50, description: "How many." } },
          { name: "ids", in: "query", schema: { type: "array", items: { type: "string" }, default: [] } },
          { name: "threadline", in: "cookie", schema: { type: "string" } },
        ],
        responses: { "200": { content: { "application/json": {} } } },
      },
      delete: { operationId: "delete_session", responses: { "204": {} } },
    },
    "/feed": { get: { operationId: "follow", responses: { "200": { content: { "text/event-stream": {} } } } } },
    "/people": {
      post: {
        operationId: "forget_person",
        requestBody: { content: { "application/json": { example: { name: "Ann" } } } },
        responses: {},
      },
    },
    "/files": {
      post: {
        operationId: "upload",
        requestBody: { content: { "application/octet-stream": {} } },
        responses: {},
      },
    },
  },
};

function operation(name: string): Operation {
  const found = readOperations(DESCRIPTION).get(name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
}

describe("the description of an operation", () => {
  it("says what is to be filled in, and how", () => {
    const { path, fields } = operation("read_session");

    expect(path).toBe("/api/sessions/{id}");
    expect(fields.map(({ name, kind, hint, isNeeded }) => [name, kind, hint, isNeeded])).toEqual([
      ["id", "text", "2026_a", true],
      ["shelf", "choice", "sidebar", false],
      ["is_pinned", "choice", "", false],
      ["most", "number", "50", false],
      ["ids", "list", "", false],
    ]);
    expect(fields.map(({ choices }) => choices)).toContainEqual(["sidebar", "archive"]);
    expect(fields.map(({ about }) => about)).toEqual(["", "Where it is put.", "", "How many.", ""]);
  });

  it("gives the example of its body, or wants a file", () => {
    expect(operation("forget_person").body).toEqual({ kind: "json", example: '{\n  "name": "Ann"\n}' });
    expect(operation("upload").body).toEqual({ kind: "file" });
    expect(operation("follow").body).toBeNull();
  });

  it("knows what streams, and what deletes", () => {
    expect(operation("follow").isStream).toBe(true);
    expect(operation("read_session").isStream).toBe(false);
    const deleting = [...readOperations(DESCRIPTION).values()].filter((one) => one.isDeleting);
    expect(deleting.map(({ name }) => name)).toEqual(["delete_session", "forget_person"]);
  });
});
