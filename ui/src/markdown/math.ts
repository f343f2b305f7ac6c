// Formulas in Markdown: what is one, and what is only money.

import type { TokenizerAndRendererExtension } from "marked";
import { escaped } from "./escape.ts";

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
export function formula(text: string): Formula | null {
  for (const pattern of INLINE) {
    const found = pattern.exec(text);
    const tex = found?.[1]?.trim();
    if (found && tex && (SIGNS.test(tex) || !WORD.test(tex))) return { raw: found[0], tex };
  }
  return null;
}

/** Find a formula on its own lines that a text begins with. */
export function standing(text: string): Formula | null {
  for (const pattern of BLOCK) {
    const found = pattern.exec(text);
    const tex = found?.[1]?.trim();
    if (found && tex) return { raw: found[0], tex };
  }
  return null;
}

/** Tell where the next formula could begin. */
function begins(text: string): number | undefined {
  const at = text.search(/\$(?=[^\s])|\\\(/);
  return at < 0 ? undefined : at;
}

/** Tell where a formula on its own lines could begin within a paragraph: nobody asks what follows after it. */
function stands(text: string): number | undefined {
  const found = /\n {0,3}(?:(\$\$|\\\[)|[ \t]*\n)/.exec(text);
  return found?.[1] ? found.index + 1 : undefined;
}

export const MATH: TokenizerAndRendererExtension[] = [
  {
    name: "standing",
    level: "block",
    start: stands,
    tokenizer: (text) => token("standing", standing(text)),
    renderer: ({ tex }) => `<div class="math" data-math="block" dir="ltr">${escaped(String(tex))}</div>`,
  },
  {
    name: "formula",
    level: "inline",
    start: begins,
    // Within a word it is money or a name: US$, a$b.
    tokenizer: (text, before) => token("formula", /\w$/.test(before.at(-1)?.raw ?? "") ? null : formula(text)),
    renderer: ({ tex }) => `<span class="math" data-math="inline" dir="ltr">${escaped(String(tex))}</span>`,
  },
];

function token(type: string, found: Formula | null) {
  return found ? { type, ...found } : undefined;
}
