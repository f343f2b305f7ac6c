// A conversation that its first message created is handed to the screen that shows it from then on.

import type { ConversationStore } from "./conversation_store.svelte.ts";

/** What is handed on: the conversation, and where in the field somebody is writing, if they are. */
export interface Handoff {
  conversation: ConversationStore;
  caret: readonly [number, number] | null;
}

const begun = new Map<string, Handoff>();
const handed = new WeakSet<ConversationStore>();

export function handOff(id: string, conversation: ConversationStore, field: Element | null): void {
  const isWriting = field instanceof HTMLTextAreaElement;
  begun.set(id, { conversation, caret: isWriting ? [field.selectionStart, field.selectionEnd] : null });
  handed.add(conversation);
}

/** Take up the conversation that was just begun here, if it is this one. */
export function takeHandoff(id: string | null): Handoff | null {
  const found = begun.get(id ?? "") ?? null;
  begun.clear();
  return found;
}

/** Whether another screen goes on with a conversation that was begun here. */
export function isHandedOff(conversation: ConversationStore): boolean {
  return handed.has(conversation);
}
