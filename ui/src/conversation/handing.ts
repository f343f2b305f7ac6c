// A conversation that was begun by its first words is handed on to the screen that shows it from then on.

import type { Talk } from "./talk.svelte.ts";

/** What is handed on: the conversation, and where in the field somebody is writing, if they are. */
export interface Handed {
  talk: Talk;
  caret: readonly [number, number] | null;
}

const begun = new Map<string, Handed>();
const handed = new WeakSet<Talk>();

export function handOn(id: string, talk: Talk, field: Element | null): void {
  const isWriting = field instanceof HTMLTextAreaElement;
  begun.set(id, { talk, caret: isWriting ? [field.selectionStart, field.selectionEnd] : null });
  handed.add(talk);
}

/** Take up the conversation that was just begun here, if it is this one. */
export function takeUp(id: string | null): Handed | null {
  const found = begun.get(id ?? "") ?? null;
  begun.clear();
  return found;
}

/** Whether another screen goes on with a conversation that was begun here. */
export function isHandedOn(talk: Talk): boolean {
  return handed.has(talk);
}
