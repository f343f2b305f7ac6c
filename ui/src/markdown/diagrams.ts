// Diagrams are drawn in a frame that has no origin, may run its own script, and can ask nobody for anything.

import { strings } from "../strings/index.ts";
import { getCode } from "./code_folding.ts";
import { type DrawRequest, isDrawable, parseFrameMessage } from "./diagram_messages.ts";

/** Draw the source that a code block shows or has folded, and take its place once that is done. */
export function drawDiagram(figure: HTMLElement, signal: AbortSignal): void {
  const source = getCode(figure);
  if (!isDrawable(source)) return showFailure(figure);
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = strings.message.diagram;
  frame.className = "drawing";
  frame.src = "/diagram.html";
  // The frame has no origin that could be named; it gets only what is shown beside it anyway.
  const requestDrawing = (): void => frame.contentWindow?.postMessage({ source, isDark: isDark() } satisfies DrawRequest, "*");
  const handleMessage = (event: MessageEvent): void => {
    const message = event.source === frame.contentWindow ? parseFrameMessage(event.data) : null;
    if (message?.kind === "ready") requestDrawing();
    else if (message?.kind === "drawn") show(figure, frame, message.height);
    else if (message?.kind === "failed") fail(figure, frame);
  };
  addEventListener("message", handleMessage, { signal });
  onThemeChange(requestDrawing, signal);
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
  button.textContent = strings.message.source;
  button.addEventListener("click", () => {
    const isSource = figure.classList.toggle("source");
    button.textContent = isSource ? strings.message.drawing : strings.message.source;
  });
  return button;
}

function fail(figure: HTMLElement, frame: HTMLIFrameElement): void {
  frame.remove();
  figure.classList.remove("diagram");
  showFailure(figure);
}

function showFailure(figure: HTMLElement): void {
  const note = document.createElement("p");
  note.className = "failure";
  note.textContent = strings.message.noDiagram;
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
