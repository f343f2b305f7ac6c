// The router: the URL is the state, so that every place can be linked to.

/** The places of the app; what follows the name in the address are its arguments. */
export type Route =
  | { name: "new" }
  | { name: "conversation"; id: string; seq: number | null }
  | { name: "login" }
  | { name: "welcome" }
  | { name: "page"; page: string; rest: readonly string[] }
  | { name: "missing" };

const PAGES = ["settings", "people", "jobs", "platforms", "spend", "projects", "shares", "gallery"];

/** Parse a URL. */
export function parseRoute(path: string, hash = ""): Route {
  const parts = parsePath(path);
  if (parts === null) return { name: "missing" };
  const [first = "", ...rest] = parts;
  if (first === "") return { name: "new" };
  if (first === "login" || first === "welcome") return { name: first };
  if (first === "c" && rest[0]) {
    const seq = /^#m(\d+)$/.exec(hash)?.[1];
    return { name: "conversation", id: rest[0], seq: seq ? Number(seq) : null };
  }
  return PAGES.includes(first) ? { name: "page", page: first, rest } : { name: "missing" };
}

/** Read the parts of a path; null: it is cut off or mistyped, so that it means nothing. */
function parsePath(path: string): readonly string[] | null {
  try {
    return path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** Write the address of a conversation, or of one of its lines. */
export function getSessionUrl(id: string, seq?: number | null): string {
  return `/c/${encodeURIComponent(id)}${seq ? `#m${seq}` : ""}`;
}

/** Return the URL of a search hit, with the hits of its conversation marked; without a line, of the conversation alone. */
export function getHitUrl(id: string, seq: number | null, text: string): string {
  const [path = "", hash = ""] = getSessionUrl(id, seq).split("#");
  return seq === null ? path : `${path}?q=${encodeURIComponent(text)}#${hash}`;
}

class Router {
  route = $state.raw<Route>(parseRoute(location.pathname, location.hash));
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener("popstate", () => this.#read());
    addEventListener("hashchange", () => this.#read());
    document.addEventListener("click", (event) => this.#click(event));
  }

  /** Go somewhere; `isReplaced` leaves no step behind to go back to. */
  navigate(address: string, { isReplaced = false } = {}): void {
    if (isReplaced) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.#read();
  }

  /** The session that is looked at, if one is. */
  get session(): string | null {
    return this.route.name === "conversation" ? this.route.id : null;
  }

  #read(): void {
    this.route = parseRoute(location.pathname, location.hash);
    this.query = new URLSearchParams(location.search);
  }

  /** Links of our own change the place without loading the page anew. */
  #click(event: MouseEvent): void {
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || !isPlain || event.defaultPrevented || event.altKey) return;
    const isOurs = link.origin === location.origin && !link.target && !link.hasAttribute("download");
    if (!isOurs || /^\/(api|s)\b/.test(link.pathname)) return;
    event.preventDefault();
    this.navigate(link.pathname + link.search + link.hash);
  }
}

export const router = new Router();
