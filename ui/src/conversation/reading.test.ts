import { describe, expect, it } from "vitest";
import type { ChildView } from "../api/schema.ts";
import { forksOf } from "./reading.ts";

const child = (id: string, change: Partial<ChildView>): ChildView => ({
  id,
  cause: "branch",
  title: null,
  base_seq: null,
  opened_at: "2026-01-31T12:00:00Z",
  ...change,
});

describe("forksOf", () => {
  it("takes branches, also one that begins with other first words, and nothing else that came of a session", () => {
    const children = [child("a", { base_seq: 3, title: "A" }), child("b", {}), child("c", { cause: "new" })];
    expect(forksOf(children)).toEqual([
      { seq: 3, id: "a", title: "A" },
      { seq: 0, id: "b", title: null },
    ]);
  });
});
