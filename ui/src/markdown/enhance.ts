// Highlighting, math and diagrams of a rendered block: they come later, and change no size.

import { drawDiagram } from "./diagrams.ts";
import { highlight } from "./highlight.ts";
import { renderMath } from "./math.ts";

/** Give a settled block what takes longer; answers how to stop that. */
export function enhanceBlock(block: HTMLElement): () => void {
  const stop = new AbortController();
  for (const figure of block.querySelectorAll<HTMLElement>("figure.code")) enhanceCode(figure, stop.signal);
  for (const one of block.querySelectorAll<HTMLElement>("[data-math]")) void renderMath(one, stop.signal);
  return () => stop.abort();
}

function enhanceCode(figure: HTMLElement, signal: AbortSignal): void {
  const code = figure.querySelector<HTMLElement>("code");
  if (code?.dataset.lang === "mermaid") drawDiagram(figure, signal);
  else if (code) highlight(code, signal);
}
