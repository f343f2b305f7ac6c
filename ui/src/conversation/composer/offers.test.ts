import { describe, expect, it } from "vitest";
import { placed } from "./offers.svelte.ts";

describe("what is offered", () => {
  const undone = { text: "hello", isKept: false };
  const question = { text: "Sum it up.", isKept: true };

  it("is written where nothing is, or in the place of what was offered before", () => {
    expect(placed(undone, " ", "")).toBe("hello");
    expect(placed(undone, "", "something")).toBe("hello");
    expect(placed(undone, "something", "something")).toBe("hello");
  });

  it("comes to somebody's own words, or is not written", () => {
    expect(placed(question, "my draft", "")).toBe("my draft\n\nSum it up.");
    expect(placed(undone, "my draft", "")).toBeNull();
  });
});
