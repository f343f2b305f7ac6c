// Focus after an element was removed.

import { tick } from "svelte";

/** Give the focus to what stands in the place of a line that goes, else to the field; not if somebody moved it. */
export async function moveFocus(list: Element | null, at: number, composer = findComposer(list)): Promise<void> {
  await tick();
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  const lines = list?.isConnected ? [...list.children] : [];
  const line = lines[Math.min(at, lines.length - 1)];
  const next = line?.querySelector<HTMLElement>("button:last-of-type");
  (next ?? composer?.querySelector<HTMLElement>("form textarea"))?.focus();
}

/** Find where one writes; a list that is gone is no longer in it. */
export function findComposer(list: Element | null): Element | null {
  return list?.closest(".composer") ?? null;
}
