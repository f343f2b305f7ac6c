// The clipboard, also where the browser does not allow it.

import { strings } from "../strings/index.ts";
import { notices } from "./notices.svelte.ts";

/** Copy a text, and tell whether that was done. */
export async function copyText(text: string, told: string = strings.common.copied): Promise<void> {
  if ((await writeToClipboard(text)) || copyBySelection(text)) notices.show(told);
  else notices.showWarning(strings.common.notCopied, strings.common.copyByHand);
}

/** Only a secure page has a clipboard; one that is reached by a bare address at home has none. */
async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard?.writeText(text);
    return navigator.clipboard !== undefined;
  } catch {
    return false;
  }
}

function copyBySelection(text: string): boolean {
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
