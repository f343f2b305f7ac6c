// Snippets of search results, split into what was found and what stands around it.

import type { SnippetView } from "../api/schema.ts";

export interface SnippetPart {
  text: string;
  isHit: boolean;
}

/** Cut a snippet into what was found and what stands around it; its ranges count code points. */
export function splitSnippet({ text, ranges }: SnippetView): readonly SnippetPart[] {
  const points = Array.from(text);
  const cut: SnippetPart[] = [];
  let at = 0;
  const add = (to: number, isHit: boolean): void => {
    if (to > at) cut.push({ text: points.slice(at, to).join(""), isHit });
    at = Math.max(at, to);
  };
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    add(from, false);
    add(to, true);
  }
  add(points.length, false);
  return cut;
}
