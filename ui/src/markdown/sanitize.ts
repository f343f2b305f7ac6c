// Sanitized HTML: nothing in it can run, load anything from another host, or pass for a part of the app.

import DOMPurify, { type Config } from "dompurify";

const TAGS = [
  ..."a b br blockquote button code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr".split(" "),
  ..."i img ins kbd li mark ol p pre q rp rt ruby s samp small span strong sub summary sup table".split(" "),
  ..."tbody td th thead tr u ul var".split(" "),
];
const ATTRIBUTES = [
  ..."alt aria-expanded aria-label class data-do data-lang data-math decoding dir href loading rel role src".split(" "),
  ..."start tabindex target title type".split(" "),
];
const CONFIG: Config & { IN_PLACE: true } = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ATTRIBUTES,
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  ALLOW_SELF_CLOSE_IN_ATTR: false,
  // What was looked at is what is shown: it is not written and read once more, which could change it.
  IN_PLACE: true,
};

const purify = typeof window === "undefined" ? null : DOMPurify(window);
// Read once: to do so for every block would take longer than the block.
purify?.setConfig(CONFIG);
purify?.addHook("afterSanitizeAttributes", (element) => {
  if (element instanceof HTMLAnchorElement) secureLink(element);
  else element.removeAttribute("href");
  if (!(element instanceof HTMLImageElement) || !isLocalImage(element.getAttribute("src") ?? "")) {
    element.removeAttribute("src");
  }
});

/** A link opens beside the app, and tells nobody where one came from. */
function secureLink(link: HTMLAnchorElement): void {
  if (getSafeLink(link.getAttribute("href") ?? "") === null) link.removeAttribute("href");
  link.setAttribute("rel", "noopener noreferrer nofollow");
  link.setAttribute("target", "_blank");
}

/** Make nodes of HTML, and take out of them whatever is not on the list. */
export function sanitize(html: string): DocumentFragment {
  if (!purify) throw new Error("HTML is cleaned in a browser only");
  // In a template nothing runs and nothing is asked for.
  const template = document.createElement("template");
  const root = document.createElement("div");
  template.content.append(root);
  root.innerHTML = html;
  purify.sanitize(root, CONFIG);
  const nodes = document.createDocumentFragment();
  nodes.append(...root.childNodes);
  return nodes;
}

const LINKS = new Set(["http:", "https:", "mailto:"]);
const ATTACHMENT = /^\/api\/attachments\/[0-9a-f]{64}(?:\?[\w=&%.~-]*)?$/;
const INLINE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+={0,2}$/;

/** Take an address that a link may have, in full; null: it may not. */
export function getSafeLink(address: string): string | null {
  // What only looks like an address of the web would lead to a place of this app.
  const url = URL.canParse(address) ? new URL(address) : null;
  return url && LINKS.has(url.protocol) ? url.href : null;
}

/** Tell whether a picture comes from here, so that showing it asks nobody else. */
export function isLocalImage(address: string): boolean {
  return ATTACHMENT.test(address) || INLINE.test(address);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Write a text so that HTML shows it, and nothing of it counts. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
