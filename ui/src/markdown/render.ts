// Blocks of Markdown to what can be shown.

import type { Links } from "marked";
import type { Block } from "./blocks.ts";
import { clean } from "./clean.ts";
import { closed } from "./closing.ts";
import { firstLines, firstRows } from "./folding.ts";
import { moreRows, parse, plain } from "./parse.ts";

/** The lines of a table above its rows. */
const HEAD = 2;

/** Draw a block; `isOpen`: more of it may follow, so its signs may still be open. */
export function render(block: Block, links: Links, isOpen: boolean): DocumentFragment {
  if (block.isPlain) return clean(plain(block.raw));
  if (block.size) return clean(table(block, links));
  return clean(parse(isOpen ? closed(block.raw) : block.raw, links));
}

function table({ raw, size = { rows: 0, columns: 1 } }: Block, links: Links): string {
  const shown = firstRows(size.columns);
  if (size.rows <= shown) return parse(raw, links);
  return parse(firstLines(raw, HEAD + shown), links) + moreRows(shown, size.rows);
}

/** Draw some more rows of a table. */
export function rowsOf({ raw }: Block, links: Links, from: number, count: number): Element[] {
  const all = raw.split("\n");
  const some = [...all.slice(0, HEAD), ...all.slice(HEAD + from, HEAD + from + count)];
  return [...clean(parse(some.join("\n"), links)).querySelectorAll("tbody > tr")];
}
