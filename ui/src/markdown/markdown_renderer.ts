// A text on the page, block by block. Only blocks that change are drawn anew, and a long text is drawn in
// portions, so that nothing ever waits for it.

import type { Links } from "marked";
import { type BlockSource, blockSources, renderBlock } from "./block_renderer.ts";
import { type Block, type BlockSplit, NO_BLOCKS, splitBlocks } from "./blocks.ts";
import { restoreUnfolded } from "./code_folding.ts";
import { enhanceBlock } from "./enhance.ts";
import { hasTimeLeft, schedule } from "./scheduler.ts";
import { truncateText } from "./truncation.ts";

/** So much of a text is looked at in one go. */
const STEP = 16_000;
/** So many characters are put into the page in one go: it takes its own time to lay them out. */
const ROOM = 4000;
/** More of one block is hardly ever in the page: long code and tables are folded. */
const MOST = 4000;
/** So many blocks stand together: what changes in the last of such leaves does not concern the others. */
const GROUP_SIZE = 16;

interface RenderedBlock extends BlockSource {
  isOpen: boolean;
  element: HTMLElement;
  stopEnhancing: (() => void) | null;
}

export class MarkdownRenderer {
  readonly #container: HTMLElement;
  readonly #rendered: RenderedBlock[] = [];
  #text = "";
  #isStreaming = false;
  #split: BlockSplit = NO_BLOCKS;
  /** So much of the text has been looked at. */
  #parsedLength = 0;
  /** The next block to draw. */
  #next = 0;
  #cancelRest: (() => void) | null = null;

  constructor(container: HTMLElement) {
    this.#container = container;
  }

  /** Show a text; `isStreaming`: more of it will come, so nothing of it waits. */
  show(text: string, isStreaming: boolean): void {
    if (!text.startsWith(this.#text.slice(0, this.#parsedLength))) this.#parsedLength = 0;
    this.#text = text;
    this.#isStreaming = isStreaming;
    // Whether the last one is open may have changed.
    this.#next = Math.max(0, Math.min(this.#next, this.#split.blocks.length - 1));
    this.#cancelRest?.();
    this.#cancelRest = null;
    if (isStreaming) this.#parseMore(text.length);
    this.#renderSome();
  }

  close(): void {
    this.#cancelRest?.();
    for (const { stopEnhancing } of this.#rendered) stopEnhancing?.();
  }

  #renderSome(): void {
    this.#cancelRest = null;
    let room = ROOM;
    do {
      if (this.#next < this.#limit()) room -= this.#renderBlock(this.#next++);
      else if (this.#parsedLength < this.#text.length) this.#parseMore(this.#parsedLength + STEP);
      else return this.#trim();
    } while ((hasTimeLeft() && room > 0) || this.#rendered.length === 0);
    this.#cancelRest = schedule(() => this.#renderSome());
  }

  /** Look at more of the text. */
  #parseMore(length: number): void {
    const part = truncateText(this.#text, length);
    // A cut is never before the last one, however the gaps lie.
    this.#parsedLength = part.length > this.#parsedLength ? part.length : Math.min(length, this.#text.length);
    const before = this.#split;
    this.#split = splitBlocks(this.#text.slice(0, this.#parsedLength), before);
    if (this.#split === before) return;
    this.#next = this.#split.links === before.links ? Math.min(this.#next, this.#split.kept) : 0;
  }

  /** Answer how many blocks can be drawn: while more is to be looked at, the last ones may still change. */
  #limit(): number {
    const { length } = this.#split.blocks;
    const isAll = this.#isStreaming || this.#parsedLength >= this.#text.length || this.#rendered.length === 0;
    return isAll ? length : length - 2;
  }

  /** Draw a block, if it is not there already; answers about how many characters that put into the page. */
  #renderBlock(at: number): number {
    const block = this.#split.blocks[at];
    if (!block) return 0;
    const { links } = this.#split;
    const isLast = at === this.#split.blocks.length - 1;
    const isOpen = isLast && (this.#isStreaming || this.#parsedLength < this.#text.length);
    const old = this.#rendered[at];
    if (old && isSame(old, block, links, isOpen)) {
      old.block = block;
      return 0;
    }
    old?.stopEnhancing?.();
    const element = old?.element ?? document.createElement("div");
    element.className = classOf(block, at > 0, isLast && this.#isStreaming);
    element.replaceChildren(renderBlock(block, links, isOpen));
    const rendered: RenderedBlock = { block, links, isOpen, element, stopEnhancing: null };
    this.#rendered[at] = rendered;
    blockSources.set(element, rendered);
    if (!old) this.#getGroup(at).append(element);
    restoreUnfolded(element, isOpen);
    if (!isOpen) rendered.stopEnhancing = enhanceBlock(element);
    return Math.min(block.raw.length, MOST);
  }

  #getGroup(at: number): Element {
    const group = this.#container.children[Math.floor(at / GROUP_SIZE)];
    if (group) return group;
    const next = document.createElement("div");
    next.className = "leaf";
    this.#container.append(next);
    return next;
  }

  /** Take away what an earlier text had more. */
  #trim(): void {
    for (const { element, stopEnhancing } of this.#rendered.splice(this.#split.blocks.length)) {
      stopEnhancing?.();
      element.remove();
    }
    const groups = Math.ceil(this.#rendered.length / GROUP_SIZE);
    for (const group of [...this.#container.children].slice(groups)) group.remove();
  }
}

function classOf({ isMore }: Block, isNext: boolean, isLast: boolean): string {
  const kind = isMore ? "more" : isNext ? "next" : "";
  return `block ${kind} ${isLast ? "last" : ""}`;
}

function isSame(old: RenderedBlock, block: Block, links: Links, isOpen: boolean): boolean {
  const isLinked = old.links !== links && block.raw.includes("[");
  return old.block.raw === block.raw && old.block.isPlain === block.isPlain && old.isOpen === isOpen && !isLinked;
}
