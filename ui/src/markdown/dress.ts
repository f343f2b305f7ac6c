// What is done to a block once it stands: colours, formulas and diagrams come later, and change no size.

import { drawDiagram } from "./diagrams.ts";
import { draw } from "./formulas.ts";
import { colour } from "./highlight.ts";

/** Give a settled block what takes longer; answers how to stop that. */
export function dress(block: HTMLElement): () => void {
  const stop = new AbortController();
  for (const figure of block.querySelectorAll<HTMLElement>("figure.code")) dressCode(figure, stop.signal);
  for (const one of block.querySelectorAll<HTMLElement>("[data-math]")) void draw(one, stop.signal);
  return () => stop.abort();
}

function dressCode(figure: HTMLElement, signal: AbortSignal): void {
  const code = figure.querySelector<HTMLElement>("code");
  if (code?.dataset.lang === "mermaid") drawDiagram(figure, signal);
  else if (code) colour(code, signal);
}
