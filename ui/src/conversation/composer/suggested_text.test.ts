import { describe, expect, it } from "vitest";
import { mergeSuggestion } from "./suggested_text.svelte.ts";

describe("what is offered", () => {
  const undone = { text: "hello", isKept: false };
  const question = { text: "Sum it up.", isKept: true };

  it("is written where nothing is, or in the place of what was offered before", () => {
    expect(mergeSuggestion(undone, " ", "")).toBe("hello");
    expect(mergeSuggestion(undone, "", "something")).toBe("hello");
    expect(mergeSuggestion(undone, "something", "something")).toBe("hello");
  });

  it("comes to somebody's own words, or is not written", () => {
    expect(mergeSuggestion(question, "my draft", "")).toBe("my draft\n\nSum it up.");
    expect(mergeSuggestion(undone, "my draft", "")).toBeNull();
  });
});
