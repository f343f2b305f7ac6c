// The clipboard, also where the browser keeps it to itself.

import { notices } from "./notices.svelte.ts";
import { words } from "../words/index.ts";

/** Copy a text, and tell so. */
export async function copy(text: string, told: string = words.common.copied): Promise<void> {
  // Only a secure page has a clipboard; one that is reached by a bare address at home has none.
  if (isSecureContext) await navigator.clipboard.writeText(text);
  else copyBySelecting(text);
  notices.tell(told);
}

function copyBySelecting(text: string): void {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "spoken";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
