// The clipboard, also where the browser keeps it to itself.

import { notices } from "./notices.svelte.ts";
import { words } from "../words/index.ts";

/** Copy a text, and tell whether that was done. */
export async function copy(text: string, told: string = words.common.copied): Promise<void> {
  if ((await isKept(text)) || isSelected(text)) notices.tell(told);
  else notices.warn(words.common.notCopied, words.common.copyByHand);
}

/** Only a secure page has a clipboard; one that is reached by a bare address at home has none. */
async function isKept(text: string): Promise<boolean> {
  try {
    await navigator.clipboard?.writeText(text);
    return navigator.clipboard !== undefined;
  } catch {
    return false;
  }
}

function isSelected(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "spoken";
  // Beside an open dialog nothing can be selected.
  (document.querySelector("dialog:modal") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
