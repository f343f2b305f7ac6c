// Where a text may lead to, and which pictures it may show: nothing is asked of another host.

const LINKS = new Set(["http:", "https:", "mailto:"]);
const OURS = /^\/api\/attachments\/[0-9a-f]{64}(?:\?[\w=&%.~-]*)?$/;
const INLINE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+={0,2}$/;

/** Take an address that a link may have, in full; null: it may not. */
export function linkTo(address: string): string | null {
  // What only looks like an address of the web would lead to a place of this app.
  const url = URL.canParse(address) ? new URL(address) : null;
  return url && LINKS.has(url.protocol) ? url.href : null;
}

/** Tell whether a picture comes from here, so that showing it asks nobody else. */
export function isOwnPicture(address: string): boolean {
  return OURS.test(address) || INLINE.test(address);
}
