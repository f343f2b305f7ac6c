import { expect, test } from "vitest";
import type { AttachmentPart } from "../../api/schema.ts";
import { groupParts } from "./blocks.ts";

const file: AttachmentPart = {
  type: "attachment",
  kind: "file",
  blob: "0",
  media_type: "text/plain",
  size: 1,
  name: null,
};

test("Files that follow each other stand together.", () => {
  const pieces = groupParts([{ type: "text", text: "a" }, file, file, { type: "text", text: "b" }, file]);
  const kinds = pieces.map((piece) => (piece.kind === "files" ? piece.files.length : piece.kind));
  expect(kinds).toEqual(["text", 2, "text", 1]);
});

test("A note for the agent is shown as words.", () => {
  const pieces = groupParts([{ type: "note", kind: "edited", text: "It now says: a" }]);
  expect(pieces).toEqual([{ kind: "text", text: "It now says: a" }]);
});

test("Empty words and empty thoughts are left out, all else is kept in order.", () => {
  const pieces = groupParts([
    { type: "reasoning", text: " " },
    { type: "text", text: "" },
    { type: "reasoning", text: "hm" },
    { type: "tool_call", id: "1", name: "run", arguments: "{}" },
    { type: "tool_result", call_id: "1", text: "", is_error: false },
    { type: "marker", kind: "stopped", text: "" },
  ]);
  expect(pieces.map((piece) => piece.kind)).toEqual(["thought", "call", "result", "marker"]);
});
