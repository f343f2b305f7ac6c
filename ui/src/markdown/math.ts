// Math in Markdown: its syntax, and its rendering as MathML.

import type { TokenizerAndRendererExtension } from "marked";
import { escapeHtml } from "./sanitize.ts";
import { waitForTurn } from "./scheduler.ts";

const INLINE = [
  /^\$\$(?!\s)((?:\\[^\n]|[^\\$\n])+?)\$\$/,
  /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])+?)(?<!\s)\$(?![\w$])/,
  /^\\\(((?:(?!\\\))[^\n])+?)\\\)/,
];
// A formula on its own lines holds no empty line: so it is one block, however it comes in.
const BLOCK = [
  /^ {0,3}\$\$[ \t]*\n?((?:(?!\$\$|\n[ \t]*\n)[\s\S]){1,2000}?)\n?[ \t]*\$\$[ \t]*(?:\n|$)/,
  /^ {0,3}\\\[[ \t]*\n?((?:(?!\\\]|\n[ \t]*\n)[\s\S]){1,2000}?)\n?[ \t]*\\\][ \t]*(?:\n|$)/,
];
const SIGNS = /[\\^_=+<>{}|]/;
const WORD = /\p{L}{3}/u;

export interface Formula {
  raw: string;
  tex: string;
}

/** Find a formula that a text begins with. */
export function findInlineMath(text: string): Formula | null {
  for (const pattern of INLINE) {
    const found = pattern.exec(text);
    const tex = found?.[1]?.trim();
    if (found && tex && (SIGNS.test(tex) || !WORD.test(tex))) return { raw: found[0], tex };
  }
  return null;
}

/** Find a formula on its own lines that a text begins with. */
export function findBlockMath(text: string): Formula | null {
  for (const pattern of BLOCK) {
    const found = pattern.exec(text);
    const tex = found?.[1]?.trim();
    if (found && tex) return { raw: found[0], tex };
  }
  return null;
}

/** Tell where the next formula could begin. */
function findInlineStart(text: string): number | undefined {
  const at = text.search(/\$(?=[^\s])|\\\(/);
  return at < 0 ? undefined : at;
}

/** Tell where a formula on its own lines could begin within a paragraph: nobody asks what follows after it. */
function findBlockStart(text: string): number | undefined {
  const found = /\n {0,3}(?:(\$\$|\\\[)|[ \t]*\n)/.exec(text);
  return found?.[1] ? found.index + 1 : undefined;
}

export const MATH: TokenizerAndRendererExtension[] = [
  {
    name: "standing",
    level: "block",
    start: findBlockStart,
    tokenizer: (text) => token("standing", findBlockMath(text)),
    renderer: ({ tex }) => `<div class="math" data-math="block" dir="ltr">${escapeHtml(String(tex))}</div>`,
  },
  {
    name: "formula",
    level: "inline",
    start: findInlineStart,
    // Within a word it is money or a name: US$, a$b.
    tokenizer: (text, before) => token("formula", /\w$/.test(before.at(-1)?.raw ?? "") ? null : findInlineMath(text)),
    renderer: ({ tex }) => `<span class="math" data-math="inline" dir="ltr">${escapeHtml(String(tex))}</span>`,
  },
];

function token(type: string, found: Formula | null) {
  return found ? { type, ...found } : undefined;
}

const LENGTH = 5000;
const SIZES: [number, number] = [20, 20];

/** Draw the formula that an element holds as text. */
export async function renderMath(element: HTMLElement, signal: AbortSignal): Promise<void> {
  const tex = element.textContent;
  if (tex.length > LENGTH) return;
  const [{ default: temml }] = await Promise.all([import("temml"), import("temml/dist/Temml-Local.css")]);
  await waitForTurn();
  if (signal.aborted) return;
  const rendered = document.createElement("span");
  try {
    const displayMode = element.dataset.math === "block";
    temml.render(tex, rendered, { displayMode, throwOnError: true, trust: false, maxExpand: 200, maxSize: SIZES });
  } catch {
    element.classList.add("unread");
    return;
  }
  for (const one of rendered.querySelectorAll("[id], [href], [src]")) {
    for (const name of ["id", "href", "src"]) one.removeAttribute(name);
  }
  element.classList.add("drawn");
  element.replaceChildren(...rendered.childNodes);
}
