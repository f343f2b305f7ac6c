// What is expanded or opened in a transcript. It outlives the rows, which are unmounted while the reader scrolls.

import { createContext } from "svelte";
import type { MessageView } from "../../api/schema.ts";

/** What lies over the messages. */
export type OpenDialog =
  | { kind: "edit" | "revisions"; line: MessageView }
  | { kind: "picture"; address: string; name: string };

/** A piece of a message that can be folded. */
export class FoldState {
  /** Null: nobody opened or closed it. */
  isOpen = $state<boolean | null>(null);
  /** So much of it somebody wants to see; null: as much as is shown at first. */
  shownLength = $state<number | null>(null);
}

export class TranscriptUiState {
  dialog = $state.raw<OpenDialog | null>(null);
  readonly #folds = new Map<string, FoldState>();

  /** Find a part again; what somebody opened or closed stays so. */
  getFold(key: string): FoldState {
    const fold = this.#folds.get(key) ?? new FoldState();
    this.#folds.set(key, fold);
    return fold;
  }
}

/** Whoever shows messages sets it for them, and has `Over` beside them. */
export const [getUiState, setUiState] = createContext<TranscriptUiState>();
