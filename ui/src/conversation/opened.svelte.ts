// What somebody opened in a transcript. It is kept apart from the rows: those leave the page while one reads.

import { createContext } from "svelte";
import type { MessageView } from "../api/schema.ts";

/** What lies over the messages. */
export type Asked =
  | { kind: "edit" | "revisions"; line: MessageView }
  | { kind: "picture"; address: string; name: string };

/** A piece of a message that can be folded. */
export class Part {
  /** Null: nobody opened or closed it. */
  isOpen = $state<boolean | null>(null);
  /** So much of it somebody wants to see; null: as much as is shown at first. */
  wanted = $state<number | null>(null);
}

export class Opened {
  asked = $state.raw<Asked | null>(null);
  readonly #parts = new Map<string, Part>();

  /** Find a part again; what somebody opened or closed stays so. */
  part(key: string): Part {
    const part = this.#parts.get(key) ?? new Part();
    this.#parts.set(key, part);
    return part;
  }
}

/** Whoever shows messages sets it for them, and has `Over` beside them. */
export const [openedHere, setOpened] = createContext<Opened>();
