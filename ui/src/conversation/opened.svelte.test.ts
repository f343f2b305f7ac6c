import { describe, expect, it } from "vitest";
import { Opened } from "./opened.svelte.ts";

describe("what was opened", () => {
  it("is open again when its row comes back, and nothing else is", () => {
    const opened = new Opened();
    opened.part("1 0").isOpen = true;
    opened.part("2 0").isOpen = false;
    expect([opened.part("1 0").isOpen, opened.part("2 0").isOpen]).toEqual([true, false]);
    expect(opened.part("1 1").isOpen).toBeNull();
  });
});
