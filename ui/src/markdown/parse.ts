// Markdown to HTML. What comes out is not yet clean: see `clean.ts`.

import { Marked, type Links, type RendererObject, type Tokens, type TokensList } from "marked";
import { words } from "../words/index.ts";
import { isOwnPicture, linkTo } from "./addresses.ts";
import { escaped } from "./escape.ts";
import { firstLines, isFolded, lineCount, LINES } from "./folding.ts";
import { MATH } from "./math.ts";

// Tags that somebody may write by hand, without any attribute; all others are shown as they were written.
const TAGS = new Set([
  ..."b br blockquote code dd del details dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q rp rt".split(" "),
  ..."ruby s samp small strong sub summary sup u ul var".split(" "),
]);
const TAG = /<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*)?\/?>|</gi;

/** Leave the harmless tags of a text in force, and show the others. */
export function tamed(html: string): string {
  return html.replace(TAG, (whole: string, slash: string | undefined, name: string | undefined) => {
    const tag = name?.toLowerCase();
    return tag && TAGS.has(tag) ? `<${slash ?? ""}${tag}>` : escaped(whole);
  });
}

/** Name the language of a code block by what stands at its fence. */
export function languageOf(info: string | undefined): string {
  return /^[\w+#.-]{1,24}/.exec(info?.trim() ?? "")?.[0].toLowerCase() ?? "";
}

function button(act: string, text: string, more = ""): string {
  return `<button type="button" data-do="${act}"${more}>${escaped(text)}</button>`;
}

function code(text: string, info: string | undefined): string {
  const language = languageOf(info);
  const lines = lineCount(text);
  const kind = isFolded(lines) ? "code folded" : "code";
  const label = `<span>${escaped(language || words.message.code)}</span>`;
  const copy = button("copy", words.common.copy, ` aria-label="${words.message.copyCode}"`);
  const more = isFolded(lines) ? button("unfold", words.message.showAll(lines), ' aria-expanded="false"') : "";
  // What is folded is not in the page at all.
  const first = isFolded(lines) ? `${firstLines(text, LINES)}\n` : text;
  const body = `<code data-lang="${escaped(language)}"><span class="lines">${escaped(first)}</span></code>`;
  const box = `<pre dir="ltr" tabindex="0">${body}</pre>`;
  return `<figure class="${kind}"><figcaption>${label}${copy}</figcaption>${box}${more}</figure>`;
}

/** Write the button that shows more rows of a table. */
export function moreRows(shown: number, rows: number): string {
  return button("rows", words.message.showRows(shown, rows), ' class="rows"');
}

function picture(address: string, name: string): string {
  if (!isOwnPicture(address)) return anchor(address, escaped(name || address));
  const image = `<img src="${escaped(address)}" alt="${escaped(name)}" loading="lazy" decoding="async">`;
  const label = escaped(words.message.enlarge(name));
  return `<button type="button" class="picture" data-do="enlarge" aria-label="${label}">${image}</button>`;
}

function anchor(address: string, content: string, title?: string | null): string {
  const href = linkTo(address);
  const hint = title ? ` title="${escaped(title)}"` : "";
  return href === null ? content : `<a href="${escaped(href)}"${hint}>${content}</a>`;
}

/** The direction of a list or quotation is that of its first words, which then must have none of their own. */
function within(html: string): string {
  return html.replaceAll('<p dir="auto">', "<p>");
}

type Inline = (tokens: Tokens.TableCell["tokens"]) => string;

function cell({ header, align, tokens }: Tokens.TableCell, inline: Inline): string {
  const tag = header ? "th" : "td";
  return `<${tag} dir="auto"${align ? ` class="${align}"` : ""}>${inline(tokens)}</${tag}>`;
}

const RENDERER: RendererObject = {
  blockquote({ tokens }) {
    return `<blockquote dir="auto">${within(this.parser.parse(tokens))}</blockquote>`;
  },
  checkbox({ checked }) {
    const label = checked ? words.message.taskDone : words.message.taskOpen;
    return `<span class="task${checked ? " done" : ""}" role="img" aria-label="${label}"></span> `;
  },
  code({ text, lang }) {
    return code(text, lang);
  },
  codespan({ text }) {
    return `<code>${escaped(text)}</code>`;
  },
  heading({ tokens, depth }) {
    // Below the heading of the page itself.
    const tag = `h${Math.min(depth + 1, 6)}`;
    return `<${tag} dir="auto" class="level-${depth}">${this.parser.parseInline(tokens)}</${tag}>`;
  },
  html({ text }) {
    return tamed(text);
  },
  image({ href, text }) {
    return picture(href, text);
  },
  link({ href, title, tokens }) {
    return anchor(href, this.parser.parseInline(tokens), title);
  },
  list({ ordered, start, items }) {
    const tag = ordered ? "ol" : "ul";
    const first = ordered && start !== "" && start !== 1 ? ` start="${start}"` : "";
    return `<${tag} dir="auto"${first}>${items.map((item) => this.listitem(item)).join("")}</${tag}>`;
  },
  listitem({ tokens, task }) {
    return `<li${task ? ' class="task"' : ""}>${within(this.parser.parse(tokens))}</li>`;
  },
  paragraph({ tokens }) {
    return `<p dir="auto">${this.parser.parseInline(tokens)}</p>`;
  },
  table({ header, rows }) {
    const inline = this.parser.parseInline.bind(this.parser);
    const row = (cells: Tokens.TableCell[]): string => `<tr>${cells.map((one) => cell(one, inline)).join("")}</tr>`;
    const body = `<thead>${row(header)}</thead><tbody>${rows.map(row).join("")}</tbody>`;
    return `<div class="table" tabindex="0" role="group"><table>${body}</table></div>`;
  },
  text(token) {
    if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
    return "escaped" in token && token.escaped ? tamed(token.text) : escaped(token.text);
  },
};

// Who writes in a chat means a new line where there is one.
export const marked = new Marked({ gfm: true, breaks: true, renderer: RENDERER, extensions: MATH });

/** Write a text as HTML; `links` tell where names lead to that other blocks explain: `[text][name]`. */
export function parse(text: string, links: Links = {}): string {
  return marked.parser(lexed(text, links));
}

/** Answer the code that a text holds, in its order. */
export function codesIn(text: string, links: Links = {}): string[] {
  const codes: string[] = [];
  marked.walkTokens(lexed(text, links), (token) => {
    if (token.type === "code") codes.push((token as Tokens.Code).text);
  });
  return codes;
}

function lexed(text: string, links: Links): TokensList {
  const lexer = new marked.Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(text);
}

/** Write a text as HTML that shows it just as it is. */
export function plain(text: string): string {
  return `<p dir="auto" class="plain">${escaped(text)}</p>`;
}
