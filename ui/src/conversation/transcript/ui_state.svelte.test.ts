import { describe, expect, it } from "vitest";
import { TranscriptUiState } from "./ui_state.svelte.ts";

describe("what was opened", () => {
  it("is open again when its row comes back, and nothing else is", () => {
    const uiState = new TranscriptUiState();
    uiState.getFold("1 0").isOpen = true;
    uiState.getFold("2 0").isOpen = false;
    expect([uiState.getFold("1 0").isOpen, uiState.getFold("2 0").isOpen]).toEqual([true, false]);
    expect(uiState.getFold("1 1").isOpen).toBeNull();
  });
});
