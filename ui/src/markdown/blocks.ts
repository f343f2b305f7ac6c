// The blocks of a text: paragraphs, lists, tables, code. While a text grows only its last ones can
// change, so only those are looked at again.

import type { Links, Token, Tokens } from "marked";
import { isTooComplex, isTooDeep, MAX_BLOCK } from "./complexity.ts";
import { marked } from "./parse.ts";
import { splitText } from "./truncation.ts";

export interface Block {
  /** Where it begins. */
  at: number;
  raw: string;
  /** It is shown as it was written. */
  isPlain?: true;
  /** It goes on with what the block before began. */
  isMore?: true;
  /** The rows and columns of a table. */
  size?: { rows: number; columns: number };
}

export interface BlockSplit {
  text: string;
  blocks: readonly Block[];
  /** So many of the blocks are the very same as before. */
  kept: number;
  links: Links;
}

export const NO_BLOCKS: BlockSplit = { text: "", blocks: [], kept: 0, links: {} };
/** A longer list is drawn in pieces. */
const LIST = 4000;
/** What is shown as it was written is drawn in pieces of about this length. */
const PLAIN = 2000;
const BULLET = /^ {0,3}(?:([-*+])|\d{1,9}([.)]))(?=\s|$)/;

/** Split a text; what is known of its beginning from `before` is not looked at again. */
export function splitBlocks(text: string, before: BlockSplit = NO_BLOCKS): BlockSplit {
  const clean = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  if (clean === before.text) return before;
  const blocks = clean.startsWith(before.text) ? listSettled(before.blocks) : [];
  const kept = blocks.length;
  const last = blocks.at(-1);
  const from = last ? last.at + last.raw.length : 0;
  let at = from;
  const rest = clean.slice(at);
  if (isTooDeep(rest)) return { text: clean, blocks: [...blocks, ...createPlainBlocks(rest, at)], kept, links: before.links };
  const lexer = new marked.Lexer(marked.defaults);
  for (const token of joinDetails(lexer.blockTokens(rest, []))) {
    const isMore = at === from && isSameList(last, token);
    if (token.type !== "space" && token.type !== "def") blocks.push(...createBlocks(token, at, isMore));
    at += token.raw.length;
  }
  const links = kept > 0 ? mergeLinks(before.links, lexer.tokens.links) : lexer.tokens.links;
  return { text: clean, blocks, kept, links };
}

/** Make blocks that take no long time to be drawn. */
function createBlocks(token: Token, at: number, isMore: boolean): Block[] {
  if (token.type === "table") {
    const { rows, header } = token as Tokens.Table;
    return [{ at, raw: token.raw, size: { rows: rows.length, columns: header.length } }];
  }
  const raws = token.type === "list" ? groupItems((token as Tokens.List).items.map(({ raw }) => raw)) : [token.raw];
  const blocks: Block[] = [];
  for (const raw of raws) {
    const here = isTooComplex(raw) ? createPlainBlocks(raw, at) : [{ at, raw }];
    for (const block of here) blocks.push(isMore || blocks.length > 0 ? { ...block, isMore: true } : block);
    at += raw.length;
  }
  return blocks;
}

/** Join the items of a list to pieces. */
function groupItems(items: readonly string[]): string[] {
  const groups: string[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last !== undefined && last.length + item.length <= LIST) groups[groups.length - 1] = last + item;
    else groups.push(item);
  }
  return groups;
}

/** Tell whether a list goes on with the pieces that are known of it. */
function isSameList(last: Block | undefined, token: Token): boolean {
  return token.type === "list" && getBullet(last) !== "" && getBullet(last) === getBullet(token);
}

/** Answer the sign with which the items of a list begin; nothing if it is none. */
function getBullet(block: Block | Token | undefined): string {
  const found = BULLET.exec(block?.raw ?? "");
  return found?.[1] ?? found?.[2] ?? "";
}

function createPlainBlocks(raw: string, at: number): Block[] {
  let end = at;
  return splitText(raw, PLAIN).map((piece, n) => {
    end += piece.length;
    const block: Block = { at: end - piece.length, raw: piece, isPlain: true };
    return n > 0 ? { ...block, isMore: true } : block;
  });
}

/** What stands between the tags of details is one block with them, unless it is too long for that. */
function* joinDetails(tokens: readonly Token[]): Generator<Token> {
  for (let n = 0; n < tokens.length; ) {
    const end = findDetailsEnd(tokens, n);
    const [first, ...others] = tokens.slice(n, end);
    if (!first) return;
    yield others.length > 0 ? { type: "html", raw: [first, ...others].map(({ raw }) => raw).join("") } : first;
    n = end;
  }
}

/** Find where the details end that begin with a token; those that nobody closed go on to the end of the text. */
function findDetailsEnd(tokens: readonly Token[], from: number): number {
  let depth = 0;
  let length = 0;
  for (let n = from; n < tokens.length; n += 1) {
    const token = tokens[n];
    if (token?.type === "html") depth += countOpenDetails(token.raw);
    length += token?.raw.length ?? 0;
    if (depth <= 0) return n + 1;
    if (length > MAX_BLOCK) return from + 1;
  }
  return tokens.length;
}

function countOpenDetails(html: string): number {
  const count = (tag: RegExp): number => html.match(tag)?.length ?? 0;
  return count(/<details\b/gi) - count(/<\/details\b/gi);
}

/** Add names to those that are known; the very same ones if nothing is new, so that nothing is drawn again. */
function mergeLinks(known: Links, found: Links): Links {
  const isNew = Object.entries(found).some(([name, { href }]) => known[name]?.href !== href);
  return isNew ? { ...known, ...found } : known;
}

/** Answer the blocks that no further word can change: the last may grow, and the one before may take it in. */
function listSettled(blocks: readonly Block[]): Block[] {
  let end = blocks.length;
  for (let wholes = 0; end > 0 && wholes < 2; end -= 1) {
    const block = blocks[end - 1];
    // A list that grows is looked at from its last pieces on.
    if (!block?.isMore || (!block.isPlain && getBullet(block) !== "")) wholes += 1;
  }
  return blocks.slice(0, end);
}
