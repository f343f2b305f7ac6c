// Diagrams are drawn in a frame that has no origin, may run its own script, and can ask nobody for anything.

import { words } from "../words/index.ts";
import { isDrawable, read, type Wish } from "./frame.ts";
import { codeOf } from "./unfolding.ts";

/** Draw the source that a code block shows or has folded, and take its place once that is done. */
export function drawDiagram(figure: HTMLElement, signal: AbortSignal): void {
  const source = codeOf(figure);
  if (!isDrawable(source)) return tellFailure(figure);
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = words.message.diagram;
  frame.className = "drawing";
  frame.src = "/diagram.html";
  // The frame has no origin that could be named; it gets only what is shown beside it anyway.
  const ask = (): void => frame.contentWindow?.postMessage({ source, isDark: isDark() } satisfies Wish, "*");
  const hear = (event: MessageEvent): void => {
    const said = event.source === frame.contentWindow ? read(event.data) : null;
    if (said?.kind === "ready") ask();
    else if (said?.kind === "drawn") show(figure, frame, said.height);
    else if (said?.kind === "failed") fail(figure, frame);
  };
  addEventListener("message", hear, { signal });
  onThemeChange(ask, signal);
  figure.querySelector("pre")?.before(frame);
}

function show(figure: HTMLElement, frame: HTMLIFrameElement, height: number): void {
  frame.style.setProperty("height", `${height}px`);
  if (figure.classList.contains("diagram")) return;
  figure.classList.add("diagram");
  figure.querySelector("figcaption")?.append(toggle(figure));
}

/** The source can always be had. */
function toggle(figure: HTMLElement): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words.message.source;
  button.addEventListener("click", () => {
    const isSource = figure.classList.toggle("source");
    button.textContent = isSource ? words.message.drawing : words.message.source;
  });
  return button;
}

function fail(figure: HTMLElement, frame: HTMLIFrameElement): void {
  frame.remove();
  figure.classList.remove("diagram");
  tellFailure(figure);
}

function tellFailure(figure: HTMLElement): void {
  const note = document.createElement("p");
  note.className = "failure";
  note.textContent = words.message.noDiagram;
  figure.querySelector("pre")?.before(note);
}

function isDark(): boolean {
  return getComputedStyle(document.documentElement).colorScheme === "dark" || (isSystem() && dark().matches);
}

function isSystem(): boolean {
  return document.documentElement.dataset.theme === undefined;
}

function dark(): MediaQueryList {
  return matchMedia("(prefers-color-scheme: dark)");
}

function onThemeChange(tell: () => void, signal: AbortSignal): void {
  dark().addEventListener("change", tell, { signal });
  const observer = new MutationObserver(tell);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => observer.disconnect());
}
