// Renders blocks of Markdown, and remembers the source of each.

import type { Links } from "marked";
import type { Block } from "./blocks.ts";
import { renderMarkdown, renderMoreRowsButton, renderPlainText } from "./parse.ts";
import { sanitize } from "./sanitize.ts";
import { countFirstRows, getFirstLines } from "./truncation.ts";
import { closeSyntax } from "./unclosed_syntax.ts";

/** The lines of a table above its rows. */
const HEAD = 2;

/** Draw a block; `isOpen`: more of it may follow, so its signs may still be open. */
export function renderBlock(block: Block, links: Links, isOpen: boolean): DocumentFragment {
  if (block.isPlain) return sanitize(renderPlainText(block.raw));
  if (block.size) return sanitize(table(block, links));
  return sanitize(renderMarkdown(isOpen ? closeSyntax(block.raw) : block.raw, links));
}

function table({ raw, size = { rows: 0, columns: 1 } }: Block, links: Links): string {
  const shown = countFirstRows(size.columns);
  if (size.rows <= shown) return renderMarkdown(raw, links);
  return renderMarkdown(getFirstLines(raw, HEAD + shown), links) + renderMoreRowsButton(shown, size.rows);
}

/** Draw some more rows of a table. */
export function renderRows({ raw }: Block, links: Links, from: number, count: number): Element[] {
  const all = raw.split("\n");
  const some = [...all.slice(0, HEAD), ...all.slice(HEAD + from, HEAD + from + count)];
  return [...sanitize(renderMarkdown(some.join("\n"), links)).querySelectorAll("tbody > tr")];
}

export interface BlockSource {
  block: Block;
  links: Links;
}

/** By the element of the block. */
export const blockSources = new WeakMap<Element, BlockSource>();
