import { describe, expect, it } from "vitest";
import { matchesQuery } from "./filter.ts";
import { EventStreamParser, formatBody, getJsonError, isText, parseProblemDetails } from "./response.ts";

const PROBLEM = "application/problem+json";

describe("a problem", () => {
  it("says what happened, with which id, and what to do", () => {
    const text = JSON.stringify({ title: "NotFound", detail: "No such session", id: "7", hint: "Look again" });

    expect(parseProblemDetails(PROBLEM, text)).toEqual({
      title: "NotFound",
      detail: "No such session",
      id: "7",
      hint: "Look again",
      errors: [],
    });
  });

  it("names the fields that are wrong", () => {
    const errors = [{ field: "query.most", message: "too large" }, "odd", { field: 3 }];

    expect(parseProblemDetails(`${PROBLEM}; charset=utf-8`, JSON.stringify({ errors }))?.errors).toEqual([
      { field: "query.most", message: "too large" },
      { field: "3", message: "" },
    ]);
  });

  it("is nothing else", () => {
    expect(parseProblemDetails("application/json", "{}")).toBeNull();
    expect(parseProblemDetails(PROBLEM, "<html>")).toBeNull();
    expect(parseProblemDetails(PROBLEM, "[1]")).toBeNull();
  });
});

describe("an answer", () => {
  it("is set out if it is JSON", () => {
    expect(formatBody("application/json", '{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(formatBody(PROBLEM, "{}")).toBe("{}");
    expect(formatBody("application/json", "cut off {")).toBe("cut off {");
    expect(formatBody("text/plain", '{"a":1}')).toBe('{"a":1}');
  });

  it("is shown if it is made of words", () => {
    const types = ["text/html", "application/json", PROBLEM, "application/x-ndjson", "image/png"];

    expect(types.map(isText)).toEqual([true, true, true, true, false]);
  });
});

describe("a body", () => {
  it("is JSON, or it is said why not", () => {
    expect(getJsonError('{"a": 1}')).toBeNull();
    expect(getJsonError("{'a': 1}")).toMatch(/JSON/);
  });
});

describe("a stream", () => {
  it("is put together from pieces that end anywhere", () => {
    const listener = new EventStreamParser();
    const pieces = [": hi\n\nevent: he", "llo\nid: 1\nda", 'ta: {"a":1}\n', "\ndata: x\ndata: y\r\n\r", "\n"];

    expect(pieces.flatMap((piece) => listener.push(piece))).toEqual([
      { name: "hello", id: "1", data: '{"a":1}' },
      { name: "message", id: "", data: "x\ny" },
    ]);
  });
});

describe("a filter", () => {
  it("wants every word, in any order and case", () => {
    expect(matchesQuery("GET /sessions List sessions", "list GET")).toBe(true);
    expect(matchesQuery("GET /sessions List sessions", "list post")).toBe(false);
    expect(matchesQuery("anything", "")).toBe(true);
  });
});
