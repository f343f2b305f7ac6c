// Formulas as MathML, which browsers draw themselves. What cannot be read stays as it was written.

import { leisure } from "./leisure.ts";

const LENGTH = 5000;
const SIZES: [number, number] = [20, 20];

/** Draw the formula that an element holds as text. */
export async function draw(element: HTMLElement, signal: AbortSignal): Promise<void> {
  const tex = element.textContent;
  if (tex.length > LENGTH) return;
  const [{ default: temml }] = await Promise.all([import("temml"), import("temml/dist/Temml-Local.css")]);
  await leisure();
  if (signal.aborted) return;
  const drawn = document.createElement("span");
  try {
    const displayMode = element.dataset.math === "block";
    temml.render(tex, drawn, { displayMode, throwOnError: true, trust: false, maxExpand: 200, maxSize: SIZES });
  } catch {
    element.classList.add("unread");
    return;
  }
  for (const one of drawn.querySelectorAll("[id], [href], [src]")) {
    for (const name of ["id", "href", "src"]) one.removeAttribute(name);
  }
  element.classList.add("drawn");
  element.replaceChildren(...drawn.childNodes);
}
