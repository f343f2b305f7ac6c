// Whether somebody is shown the first steps by themselves, in this browser.

import { rows } from "../../sidebar/rows.svelte.ts";
import { hub } from "../../state/hub.svelte.ts";

class First {
  #isDone = $state(localStorage.getItem("welcome") === "done");

  /** The owner is here, and nobody has said anything yet. */
  get isWanted(): boolean {
    const isBare = rows.isEverything && rows.all.length === 0 && rows.error === null && !rows.isLoading;
    return hub.isOwner && !this.#isDone && isBare;
  }

  /** Do not offer the first steps by themselves any more. */
  finish(): void {
    localStorage.setItem("welcome", "done");
    this.#isDone = true;
  }

  get isDone(): boolean {
    return this.#isDone;
  }
}

export const first = new First();
