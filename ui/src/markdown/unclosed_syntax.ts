// Closes the open syntax of streamed Markdown, so that nothing flickers.

import { findBlockMath } from "./math.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
// A last line that may become a list, a rule, a fence, a heading or a formula; nobody knows yet.
const BARE = /(?:^|\n) {0,3}(?:-+|=+|[*+_>]+|\d{1,9}[.)]|#{1,6}|`{1,2}|~{1,2}|\$\$?|\\|\\\[)[ \t]*$/;
const LINK = /!?\[([^\]\n]*)(?:\]\([^)\n]*)?$/;
const SIGN = /\\.|`+|\*\*|__|~~|\*|_/gs;
const WORD = /[\p{L}\p{N}]/u;

/** Close what the last block of a growing text leaves open, and leave out what is not yet anything. */
export function closeSyntax(raw: string): string {
  const fence = FENCE.exec(raw)?.[1];
  if (fence) return withoutBareFence(raw, fence);
  const text = raw.replace(BARE, "");
  const formula = /^ {0,3}(\$\$|\\\[)/.exec(text)?.[1];
  if (formula && !findBlockMath(text)) return `${text.trimEnd()}\n${formula === "$$" ? "$$" : "\\]"}`;
  return closeMarks(text);
}

/** The line that will close the code is not part of it. */
function withoutBareFence(raw: string, fence: string): string {
  const sign = fence.charAt(0);
  const last = raw.lastIndexOf("\n");
  const line = raw.slice(last + 1).trim();
  const isBegun = last > 0 && line !== "" && line.length < fence.length && line === sign.repeat(line.length);
  return isBegun ? raw.slice(0, last) : raw;
}

function closeMarks(text: string): string {
  const { open, isCode } = findOpenMarks(text);
  if (isCode) return text + open.reverse().join("");
  const cut = text.replace(LINK, "$1");
  const bare = cut.trimEnd();
  // A sign that was just opened has nothing to hold yet.
  const last = open.at(-1);
  if (last && bare.endsWith(last)) return closeMarks(bare.slice(0, -last.length));
  return open.length > 0 ? bare + open.reverse().join("") : cut;
}

/** Answer the signs that are open at the end of the last paragraph, the innermost last. */
function findOpenMarks(text: string): { open: string[]; isCode: boolean } {
  const from = text.lastIndexOf("\n\n") + 1;
  const tail = text.slice(from);
  const open: string[] = [];
  let code = "";
  for (const found of tail.matchAll(SIGN)) {
    const sign = found[0];
    if (code ? sign === code : sign.startsWith("`")) code = code ? "" : sign;
    else if (!code && !sign.startsWith("\\")) toggleMark(open, sign, tail[found.index - 1], tail[found.index + sign.length]);
  }
  return code ? { open: [...open, code], isCode: true } : { open, isCode: false };
}

/** Let a sign open or close something, by what stands around it. */
function toggleMark(open: string[], sign: string, before = " ", after = "."): void {
  const at = open.lastIndexOf(sign);
  const isInWord = sign.startsWith("_") && WORD.test(before) && WORD.test(after);
  if (isInWord) return;
  if (at >= 0 && before.trim() !== "") open.splice(at);
  else if (after.trim() !== "") open.push(sign);
}
