// Whether the details of a conversation are shown: beside it, which is remembered, or over it for a while.

import { screen } from "../../state/screen.svelte.ts";

const KEY = "details";

class Drawer {
  #isBeside = $state(localStorage.getItem(KEY) === "open");
  #isOver = $state(false);

  get isOpen(): boolean {
    return screen.isWide ? this.#isBeside : this.#isOver;
  }

  toggle(): void {
    if (!screen.isWide) {
      this.#isOver = !this.#isOver;
      return;
    }
    this.#isBeside = !this.#isBeside;
    localStorage.setItem(KEY, this.#isBeside ? "open" : "closed");
  }

  /** Let nothing lie over the conversation any more. */
  uncover(): void {
    this.#isOver = false;
  }
}

export const drawer = new Drawer();
