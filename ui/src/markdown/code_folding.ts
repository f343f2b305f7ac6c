// Folding of long code and long tables.

import { strings } from "../strings/index.ts";
import { blockSources, renderRows } from "./block_renderer.ts";
import { highlight } from "./highlight.ts";
import { listCode } from "./parse.ts";
import { schedule } from "./scheduler.ts";
import { countFirstRows, countLines, splitText } from "./truncation.ts";

/** So much code is put into the page in one go. */
const PIECE = 4000;
const opened = new WeakMap<Element, Set<number>>();
/** What somebody unfolded, by the text of its block: rows leave the page while one reads, and come back as new ones. */
const kept = new Map<string, Set<number>>();
const filling = new WeakMap<Element, AbortController>();

/** Answer the whole code of a figure, also what is not in the page. */
export function getCode(figure: HTMLElement): string {
  const block = figure.closest(".block");
  const source = block && blockSources.get(block);
  return source ? (listCode(source.block.raw, source.links)[figures(block).indexOf(figure)] ?? "") : "";
}

/** Unfold code, or fold it again. */
export function toggleCode(figure: HTMLElement): void {
  const isOpen = figure.classList.contains("folded");
  const block = figure.closest(".block");
  if (!block) return;
  remember(block, figure, isOpen);
  if (isOpen) unfold(figure, false);
  else fold(figure);
}

/** Unfold again what somebody had unfolded before the block was drawn anew; at once while it grows. */
export function restoreUnfolded(block: Element, isStreaming: boolean): void {
  const all = opened.get(block) ?? kept.get(blockSources.get(block)?.block.raw ?? "");
  if (!all) return;
  for (const [at, figure] of figures(block).entries()) {
    if (all.has(at) && figure.classList.contains("folded")) unfold(figure, isStreaming);
  }
}

/** Show more rows of a table. */
export function showMoreRows(button: HTMLElement): void {
  const block = button.closest(".block");
  const body = block?.querySelector("tbody");
  const source = block && blockSources.get(block);
  if (!source?.block.size || !body) return;
  const { rows, columns } = source.block.size;
  const from = body.rows.length;
  body.append(...renderRows(source.block, source.links, from, countFirstRows(columns)));
  if (body.rows.length >= rows || body.rows.length === from) button.remove();
  else button.textContent = strings.message.showRows(body.rows.length, rows);
}

function unfold(figure: HTMLElement, isAtOnce: boolean): void {
  const code = figure.querySelector<HTMLElement>("code");
  if (!code) return;
  figure.classList.remove("folded");
  label(figure, strings.message.showLess, true);
  const text = getCode(figure);
  const shown = code.textContent;
  const stop = new AbortController();
  filling.set(figure, stop);
  fill(code, splitText(text.slice(shown.length), PIECE), isAtOnce, stop.signal);
}

/** Put the rest of some code into the page, and give it its colours once it is there. */
function fill(code: HTMLElement, pieces: readonly string[], isAtOnce: boolean, signal: AbortSignal): void {
  const [first, ...others] = pieces;
  if (signal.aborted || !code.isConnected) return;
  if (first === undefined) {
    if (!isAtOnce) highlight(code, signal);
    return;
  }
  const piece = document.createElement("span");
  piece.className = "lines";
  piece.textContent = first;
  code.append(piece);
  if (isAtOnce) fill(code, others, true, signal);
  else schedule(() => fill(code, others, false, signal));
}

function fold(figure: HTMLElement): void {
  const text = getCode(figure);
  filling.get(figure)?.abort();
  for (const piece of [...figure.querySelectorAll("code > .lines")].slice(1)) piece.remove();
  figure.classList.add("folded");
  label(figure, strings.message.showAll(countLines(text)), false);
  // Who folds a long text stays at it, instead of being left far below.
  figure.scrollIntoView({ block: "nearest" });
}

function label(figure: Element, text: string, isOpen: boolean): void {
  const button = figure.querySelector<HTMLElement>("[data-do=unfold]");
  if (!button) return;
  button.textContent = text;
  button.setAttribute("aria-expanded", String(isOpen));
}

function remember(block: Element, figure: HTMLElement, isOpen: boolean): void {
  const raw = blockSources.get(block)?.block.raw ?? "";
  const all = opened.get(block) ?? kept.get(raw) ?? new Set();
  opened.set(block, all);
  kept.set(raw, all);
  const at = figures(block).indexOf(figure);
  if (isOpen) all.add(at);
  else all.delete(at);
}

function figures(block: Element): HTMLElement[] {
  return [...block.querySelectorAll<HTMLElement>("figure.code")];
}
