// Markdown to HTML, which is not yet sanitized: see `sanitize.ts`.

import { type Links, Marked, type RendererObject, type Tokens, type TokensList } from "marked";
import { strings } from "../strings/index.ts";
import { MATH } from "./math.ts";
import { escapeHtml, getSafeLink, isLocalImage } from "./sanitize.ts";
import { countLines, FOLDED_LINES, getFirstLines, isFolded } from "./truncation.ts";

// Tags that somebody may write by hand, without any attribute; all others are shown as they were written.
const TAGS = new Set([
  ..."b br blockquote code dd del details dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q rp rt".split(" "),
  ..."ruby s samp small strong sub summary sup u ul var".split(" "),
]);
const TAG = /<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*)?\/?>|</gi;

/** Leave the harmless tags of a text in force, and show the others. */
export function escapeUnsafeTags(html: string): string {
  return html.replace(TAG, (whole: string, slash: string | undefined, name: string | undefined) => {
    const tag = name?.toLowerCase();
    return tag && TAGS.has(tag) ? `<${slash ?? ""}${tag}>` : escapeHtml(whole);
  });
}

/** Name the language of a code block by what stands at its fence. */
export function parseLanguage(info: string | undefined): string {
  return /^[\w+#.-]{1,24}/.exec(info?.trim() ?? "")?.[0].toLowerCase() ?? "";
}

function renderButton(act: string, text: string, more = ""): string {
  return `<button type="button" data-do="${act}"${more}>${escapeHtml(text)}</button>`;
}

function renderCode(text: string, info: string | undefined): string {
  const language = parseLanguage(info);
  const lines = countLines(text);
  const kind = isFolded(lines) ? "code folded" : "code";
  const label = `<span>${escapeHtml(language || strings.message.code)}</span>`;
  const copy = renderButton("copy", strings.common.copy, ` aria-label="${strings.message.copyCode}"`);
  const more = isFolded(lines) ? renderButton("unfold", strings.message.showAll(lines), ' aria-expanded="false"') : "";
  // What is folded is not in the page at all.
  const first = isFolded(lines) ? `${getFirstLines(text, FOLDED_LINES)}\n` : text;
  const body = `<code data-lang="${escapeHtml(language)}"><span class="lines">${escapeHtml(first)}</span></code>`;
  const box = `<pre dir="ltr" tabindex="0">${body}</pre>`;
  return `<figure class="${kind}"><figcaption>${label}${copy}</figcaption>${box}${more}</figure>`;
}

/** Write the button that shows more rows of a table. */
export function renderMoreRowsButton(shown: number, rows: number): string {
  return renderButton("rows", strings.message.showRows(shown, rows), ' class="rows"');
}

function renderImage(address: string, name: string): string {
  if (!isLocalImage(address)) return renderLink(address, escapeHtml(name || address));
  const image = `<img src="${escapeHtml(address)}" alt="${escapeHtml(name)}" loading="lazy" decoding="async">`;
  const label = escapeHtml(strings.message.enlarge(name));
  return `<button type="button" class="picture" data-do="enlarge" aria-label="${label}">${image}</button>`;
}

function renderLink(address: string, content: string, title?: string | null): string {
  const href = getSafeLink(address);
  const hint = title ? ` title="${escapeHtml(title)}"` : "";
  return href === null ? content : `<a href="${escapeHtml(href)}"${hint}>${content}</a>`;
}

/** The direction of a list or quotation is that of its first words, which then must have none of their own. */
function stripParagraphDirection(html: string): string {
  return html.replaceAll('<p dir="auto">', "<p>");
}

type Inline = (tokens: Tokens.TableCell["tokens"]) => string;

function renderCell({ header, align, tokens }: Tokens.TableCell, inline: Inline): string {
  const tag = header ? "th" : "td";
  return `<${tag} dir="auto"${align ? ` class="${align}"` : ""}>${inline(tokens)}</${tag}>`;
}

const RENDERER: RendererObject = {
  blockquote({ tokens }) {
    return `<blockquote dir="auto">${stripParagraphDirection(this.parser.parse(tokens))}</blockquote>`;
  },
  checkbox({ checked }) {
    const label = checked ? strings.message.taskDone : strings.message.taskOpen;
    return `<span class="task${checked ? " done" : ""}" role="img" aria-label="${label}"></span> `;
  },
  code({ text, lang }) {
    return renderCode(text, lang);
  },
  codespan({ text }) {
    return `<code>${escapeHtml(text)}</code>`;
  },
  heading({ tokens, depth }) {
    // Below the heading of the page itself.
    const tag = `h${Math.min(depth + 1, 6)}`;
    return `<${tag} dir="auto" class="level-${depth}">${this.parser.parseInline(tokens)}</${tag}>`;
  },
  html({ text }) {
    return escapeUnsafeTags(text);
  },
  image({ href, text }) {
    return renderImage(href, text);
  },
  link({ href, title, tokens }) {
    return renderLink(href, this.parser.parseInline(tokens), title);
  },
  list({ ordered, start, items }) {
    const tag = ordered ? "ol" : "ul";
    const first = ordered && start !== "" && start !== 1 ? ` start="${start}"` : "";
    return `<${tag} dir="auto"${first}>${items.map((item) => this.listitem(item)).join("")}</${tag}>`;
  },
  listitem({ tokens, task }) {
    return `<li${task ? ' class="task"' : ""}>${stripParagraphDirection(this.parser.parse(tokens))}</li>`;
  },
  paragraph({ tokens }) {
    return `<p dir="auto">${this.parser.parseInline(tokens)}</p>`;
  },
  table({ header, rows }) {
    const inline = this.parser.parseInline.bind(this.parser);
    const row = (cells: Tokens.TableCell[]): string => `<tr>${cells.map((one) => renderCell(one, inline)).join("")}</tr>`;
    const body = `<thead>${row(header)}</thead><tbody>${rows.map(row).join("")}</tbody>`;
    return `<div class="table" tabindex="0" role="group"><table>${body}</table></div>`;
  },
  text(token) {
    if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
    return "escaped" in token && token.escaped ? escapeUnsafeTags(token.text) : escapeHtml(token.text);
  },
};

// Who writes in a chat means a new line where there is one.
export const marked = new Marked({ gfm: true, breaks: true, renderer: RENDERER, extensions: MATH });

/** Write a text as HTML; `links` tell where names lead to that other blocks explain: `[text][name]`. */
export function renderMarkdown(text: string, links: Links = {}): string {
  return marked.parser(lex(text, links));
}

/** Answer the code that a text holds, in its order. */
export function listCode(text: string, links: Links = {}): string[] {
  const codes: string[] = [];
  marked.walkTokens(lex(text, links), (token) => {
    if (token.type === "code") codes.push((token as Tokens.Code).text);
  });
  return codes;
}

function lex(text: string, links: Links): TokensList {
  const lexer = new marked.Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(text);
}

/** Write a text as HTML that shows it just as it is. */
export function renderPlainText(text: string): string {
  return `<p dir="auto" class="plain">${escapeHtml(text)}</p>`;
}
