import { describe, expect, it } from "vitest";
import type { Field, Operation } from "./openapi.ts";
import { buildRequest, buildUrl, type FieldValues, formatCurl, quoteShell } from "./request.ts";

const field = (where: Field["where"], name: string, kind: Field["kind"] = "text"): Field => ({
  name,
  where,
  kind,
  type: "string",
  choices: [],
  isNeeded: where === "path",
  hint: "",
  about: "",
});
const ID = field("path", "id");
const TEXT = field("query", "text");
const IDS = field("query", "ids", "list");
const MATCH = field("header", "If-Match");
const OPERATION: Operation = {
  name: "change_session",
  method: "PATCH",
  path: "/api/sessions/{id}",
  fields: [ID, TEXT, IDS, MATCH],
  body: null,
  isStream: false,
  isDeleting: false,
};
const filled = (...given: [Field, string][]): FieldValues => new Map(given);
const address = (...given: [Field, string][]): string => buildUrl(OPERATION, filled(...given));

describe("an address", () => {
  it("has what was filled in, and nothing that is empty", () => {
    expect(address([ID, "7"], [TEXT, ""])).toBe("/api/sessions/7");
    expect(address([ID, "7"], [TEXT, "tea & milk"])).toBe("/api/sessions/7?text=tea+%26+milk");
  });

  it("keeps the name of a place that is empty", () => {
    expect(address([ID, ""])).toBe("/api/sessions/{id}");
  });

  it("is not led elsewhere by what stands in a place", () => {
    expect(address([ID, "../me?x=1#y"])).toBe("/api/sessions/..%2Fme%3Fx%3D1%23y");
    expect(address([ID, "$&"])).toBe("/api/sessions/%24%26");
  });

  it("repeats a name for each of several values", () => {
    expect(address([ID, "7"], [IDS, "a, b,,"])).toBe("/api/sessions/7?ids=a&ids=b");
  });
});

describe("a line for a terminal", () => {
  it("asks for the same, with a token that is not told", () => {
    const asking = buildRequest(OPERATION, filled([ID, "7"], [MATCH, '"12"']), '{"title": "Tea"}');

    expect(formatCurl(asking, "http://here:1")).toBe(
      [
        "curl -X PATCH 'http://here:1/api/sessions/7'",
        '-H "Authorization: Bearer $TOKEN"',
        "-H 'If-Match: \"12\"'",
        "-H 'Content-Type: application/json'",
        `--data-raw '{"title": "Tea"}'`,
      ].join(" \\\n  "),
    );
  });

  it("shows a stream as it comes", () => {
    const asking = buildRequest({ ...OPERATION, method: "GET", isStream: true }, filled(), null);

    expect(formatCurl(asking, "")).toMatch(/^curl -N -X GET /);
  });

  it("names a file, and what kind it is of", () => {
    const asking = buildRequest(OPERATION, filled(), new File(["x"], "it's.png", { type: "image/png" }));

    expect(formatCurl(asking, "")).toContain("-H 'Content-Type: image/png'");
    expect(formatCurl(asking, "")).toContain("--data-binary '@it'\\''s.png'");
  });

  it("quotes what a shell would read otherwise", () => {
    expect(quoteShell("$(rm) `x` \"y\" \\ !")).toBe("'$(rm) `x` \"y\" \\ !'");
    expect(quoteShell("it's")).toBe("'it'\\''s'");
  });
});
