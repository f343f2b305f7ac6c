// Which block of which text an element of the page shows.

import type { Links } from "marked";
import type { Block } from "./blocks.ts";

export interface Source {
  block: Block;
  links: Links;
}

/** By the element of the block. */
export const sources = new WeakMap<Element, Source>();
