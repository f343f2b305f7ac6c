// Whether the first steps are shown in this browser.

import { sessionList } from "../../sidebar/session_list.svelte.ts";
import { app } from "../../state/app.svelte.ts";

class Onboarding {
  #isDone = $state(localStorage.getItem("welcome") === "done");

  /** The owner is here, and nobody has said anything yet. */
  get isNeeded(): boolean {
    const isBare = sessionList.isUnfiltered && sessionList.all.length === 0 && sessionList.error === null && !sessionList.isLoading;
    return app.isOwner && !this.#isDone && isBare;
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

export const onboarding = new Onboarding();
