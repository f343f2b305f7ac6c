import { describe, expect, it } from "vitest";
import { Selection } from "./selection.svelte.ts";

const ORDER = ["a", "b", "c", "d", "e"];

describe("choosing rows", () => {
  it("takes one, and lets it go again", () => {
    const chosen = new Selection();
    chosen.toggle("b");
    chosen.toggle("d");
    chosen.toggle("b");
    expect([...chosen.ids]).toEqual(["d"]);
  });

  it("extends from where one began, in both directions", () => {
    const chosen = new Selection();
    chosen.toggle("c");
    chosen.extend(ORDER, "c", "d");
    chosen.extend(ORDER, "d", "e");
    chosen.extend(ORDER, "c", "b");
    expect([...chosen.ids].sort()).toEqual(["b", "c", "d", "e"]);
  });

  it("begins at the row that has the focus", () => {
    const chosen = new Selection();
    chosen.extend(ORDER, "b", "c");
    expect([...chosen.ids]).toEqual(["b", "c"]);
  });

  it("lets go of what is no longer there", () => {
    const chosen = new Selection();
    chosen.extend(ORDER, "a", "c");
    chosen.retain((id) => id !== "b");
    expect([...chosen.ids]).toEqual(["a", "c"]);
    chosen.clear();
    expect(chosen.count).toBe(0);
  });
});
