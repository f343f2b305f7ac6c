// Limits of complexity: text beyond them is shown as it was written.

/** The longest paragraph whose signs count, in characters: about a thousand words. */
const RUN = 6000;
/** The longest block of several runs: an item of a list, a quotation. */
export const MAX_BLOCK = 20_000;
const FENCE = /^ {0,3}(?:`{3}|~{3})/;
const DEEP = /^(?:[ \t]{80,}(?:[-*+>]|\d+[.)])|(?:[ \t]{0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+|[ \t]{0,3}>){24,})/m;
/** More formulas on lines of their own than anybody writes. */
const FORMULAS = 400;
const FORMULA = /^ {0,3}(?:\$\$|\\\[)/gm;
const FENCED = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))/gm;
const GAP = /[ \t]{200,}/;
const BEGINS = /^[ \t>]*(?:$|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)/;

/** Tell whether a text is nested too deeply, or too full of formulas, to be split into blocks. */
export function isTooDeep(text: string): boolean {
  // Code may be as deep as it likes.
  const isMuch = (prose: string): boolean => DEEP.test(prose) || (prose.match(FORMULA)?.length ?? 0) > FORMULAS;
  return isMuch(text) && isMuch(text.replace(FENCED, ""));
}

/** Tell whether a block would take too long, so that it is shown as it was written. */
export function isTooComplex(raw: string): boolean {
  if (FENCE.test(raw)) return false;
  return raw.length > MAX_BLOCK || GAP.test(raw) || (raw.length > RUN && measureLongestRun(raw) > RUN);
}

/** Measure the longest stretch that is understood as a whole: a paragraph, an item, a row. */
export function measureLongestRun(raw: string): number {
  let longest = 0;
  let run = 0;
  for (const line of raw.split("\n")) {
    run = BEGINS.test(line) ? line.length : run + line.length + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}
