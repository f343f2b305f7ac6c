// A text on the page, block by block. Only blocks that change are drawn anew, and a long text is drawn in
// portions, so that nothing ever waits for it.

import type { Links } from "marked";
import { NOTHING, split, type Block, type Split } from "./blocks.ts";
import { dress } from "./dress.ts";
import { beginning } from "./folding.ts";
import { hasTime, later } from "./leisure.ts";
import { render } from "./render.ts";
import { sources, type Source } from "./sources.ts";
import { unfoldAgain } from "./unfolding.ts";

/** So much of a text is looked at in one go. */
const STEP = 16_000;
/** So many characters are put into the page in one go: it takes its own time to lay them out. */
const ROOM = 4000;
/** More of one block is hardly ever in the page: long code and tables are folded. */
const MOST = 4000;
/** So many blocks stand together: what changes in the last of such leaves does not concern the others. */
const LEAF = 16;

interface Drawn extends Source {
  isOpen: boolean;
  element: HTMLElement;
  undress: (() => void) | null;
}

export class Sheet {
  readonly #container: HTMLElement;
  readonly #drawn: Drawn[] = [];
  #text = "";
  #isGrowing = false;
  #split: Split = NOTHING;
  /** So much of the text has been looked at. */
  #read = 0;
  /** The next block to draw. */
  #next = 0;
  #rest: (() => void) | null = null;

  constructor(container: HTMLElement) {
    this.#container = container;
  }

  /** Show a text; `isGrowing`: more of it will come, so nothing of it waits. */
  show(text: string, isGrowing: boolean): void {
    if (!text.startsWith(this.#text.slice(0, this.#read))) this.#read = 0;
    this.#text = text;
    this.#isGrowing = isGrowing;
    // Whether the last one is open may have changed.
    this.#next = Math.max(0, Math.min(this.#next, this.#split.blocks.length - 1));
    this.#rest?.();
    this.#rest = null;
    if (isGrowing) this.#look(text.length);
    this.#work();
  }

  close(): void {
    this.#rest?.();
    for (const { undress } of this.#drawn) undress?.();
  }

  #work(): void {
    this.#rest = null;
    let room = ROOM;
    do {
      if (this.#next < this.#limit()) room -= this.#draw(this.#next++);
      else if (this.#read < this.#text.length) this.#look(this.#read + STEP);
      else return this.#trim();
    } while ((hasTime() && room > 0) || this.#drawn.length === 0);
    this.#rest = later(() => this.#work());
  }

  /** Look at more of the text. */
  #look(length: number): void {
    const part = beginning(this.#text, length);
    // A cut is never before the last one, however the gaps lie.
    this.#read = part.length > this.#read ? part.length : Math.min(length, this.#text.length);
    const before = this.#split;
    this.#split = split(this.#text.slice(0, this.#read), before);
    if (this.#split === before) return;
    this.#next = this.#split.links === before.links ? Math.min(this.#next, this.#split.kept) : 0;
  }

  /** Answer how many blocks can be drawn: while more is to be looked at, the last ones may still change. */
  #limit(): number {
    const { length } = this.#split.blocks;
    const isAll = this.#isGrowing || this.#read >= this.#text.length || this.#drawn.length === 0;
    return isAll ? length : length - 2;
  }

  /** Draw a block, if it is not there already; answers about how many characters that put into the page. */
  #draw(at: number): number {
    const block = this.#split.blocks[at];
    if (!block) return 0;
    const { links } = this.#split;
    const isLast = at === this.#split.blocks.length - 1;
    const isOpen = isLast && (this.#isGrowing || this.#read < this.#text.length);
    const old = this.#drawn[at];
    if (old && isSame(old, block, links, isOpen)) {
      old.block = block;
      return 0;
    }
    old?.undress?.();
    const element = old?.element ?? document.createElement("div");
    element.className = classOf(block, at > 0, isLast && this.#isGrowing);
    element.replaceChildren(render(block, links, isOpen));
    const drawn: Drawn = { block, links, isOpen, element, undress: null };
    this.#drawn[at] = drawn;
    sources.set(element, drawn);
    if (!old) this.#leaf(at).append(element);
    unfoldAgain(element, isOpen);
    if (!isOpen) drawn.undress = dress(element);
    return Math.min(block.raw.length, MOST);
  }

  #leaf(at: number): Element {
    const leaf = this.#container.children[Math.floor(at / LEAF)];
    if (leaf) return leaf;
    const next = document.createElement("div");
    next.className = "leaf";
    this.#container.append(next);
    return next;
  }

  /** Take away what an earlier text had more. */
  #trim(): void {
    for (const { element, undress } of this.#drawn.splice(this.#split.blocks.length)) {
      undress?.();
      element.remove();
    }
    const leaves = Math.ceil(this.#drawn.length / LEAF);
    for (const leaf of [...this.#container.children].slice(leaves)) leaf.remove();
  }
}

function classOf({ isMore }: Block, isNext: boolean, isLast: boolean): string {
  const kind = isMore ? "more" : isNext ? "next" : "";
  return `block ${kind} ${isLast ? "last" : ""}`;
}

function isSame(old: Drawn, block: Block, links: Links, isOpen: boolean): boolean {
  const isLinked = old.links !== links && block.raw.includes("[");
  return old.block.raw === block.raw && old.block.isPlain === block.isPlain && old.isOpen === isOpen && !isLinked;
}
