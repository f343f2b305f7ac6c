// A conversation that was begun by its first words is handed on to the screen that shows it from then on.

import type { Talk } from "./talk.svelte.ts";

const begun = new Map<string, Talk>();

export function handOn(id: string, talk: Talk): void {
  begun.set(id, talk);
}

/** Take up the conversation that was just begun here, if it is this one. */
export function takeUp(id: string | null): Talk | null {
  const talk = begun.get(id ?? "") ?? null;
  begun.clear();
  return talk;
}
