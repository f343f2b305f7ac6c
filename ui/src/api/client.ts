// A typed way to every operation of the HTTP API: one function, `call`, which knows by the name
// of an operation what it takes and what it answers.

import { ROUTES, type Operations } from "./schema.ts";

/** The header that proves that the page itself asks, and no other one. */
export const CSRF = "X-CSRF-Token";

export type Operation = keyof Operations & keyof typeof ROUTES;

/** What an operation takes: its path, query, header and body, each only where there is one. */
export type Arguments<Name extends Operation> = Part<"path", Operations[Name]["path"]> &
  Part<"query", Operations[Name]["query"]> &
  Part<"header", Operations[Name]["header"]> &
  Part<"body", Operations[Name]["body"]> & Manner;

/** How it is asked: until when, and whether also while the page is being left. */
interface Manner {
  signal?: AbortSignal | undefined;
  keepalive?: boolean | undefined;
}

/** What came back: the data, the revision to name in `If-Match`, and the status. */
export interface Answer<Data> {
  data: Data;
  etag: string | null;
  status: number;
}

/** How the client finds and greets the server. */
export interface Options {
  /** Where the server is; without it, where the page came from. */
  base?: string;
  /** A token of the API, for programs; a page is known by its cookie. */
  token?: string;
  /** The value that `read_me` gave; it goes along with whatever changes something. */
  csrf?: () => string | null;
  /** What asks the server; for tests. */
  fetch?: typeof fetch;
}

/** What went wrong, as the server tells it: what happened, with which id, and what to do. */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly id: string | null = null,
    readonly hint: string | null = null,
    /** After how many seconds it may be tried again, if the server says so. */
    readonly retryAfter: number | null = null,
  ) {
    super(detail || title);
  }
}

export class Client {
  readonly #options: Options;
  readonly #fetch: typeof fetch;

  constructor(options: Options = {}) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((...given) => fetch(...given));
  }

  /** Ask for one operation; what the server refuses is thrown as a `Problem`. */
  async call<Name extends Operation>(
    name: Name,
    ...given: Given<Name>
  ): Promise<Answer<Operations[Name]["answer"]>> {
    const asked: Loose = given[0] ?? {};
    const [method, path, reading] = ROUTES[name];
    const response = await this.#fetch(this.address(path, asked), {
      method,
      credentials: "same-origin",
      headers: this.#headers(method, asked),
      ...(asked.body === undefined ? {} : { body: written(asked.body) }),
      ...(asked.signal ? { signal: asked.signal } : {}),
      ...(asked.keepalive ? { keepalive: true } : {}),
    });
    if (!response.ok) throw await problem(response);
    const data = (await read(response, reading)) as Operations[Name]["answer"];
    return { data, etag: response.headers.get("ETag"), status: response.status };
  }

  /** Fill in a path; what is `undefined` or `null` in a query is left out. */
  address(path: string, { path: parts = {}, query = {} }: Loose): string {
    const filled = path.replace(/\{(\w+)(?::\w+)?\}/g, (_, key: string) =>
      encodeURIComponent(String(parts[key])),
    );
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) search.append(key, String(one));
      }
    }
    const asked = search.size > 0 ? `?${search}` : "";
    return `${this.#options.base ?? ""}${filled}${asked}`;
  }

  #headers(method: string, { header = {}, body }: Loose): Headers {
    const headers = new Headers();
    for (const [key, value] of Object.entries(header)) {
      if (value !== undefined && value !== null) headers.set(key, String(value));
    }
    if (isPlain(body)) headers.set("Content-Type", "application/json");
    if (this.#options.token) headers.set("Authorization", `Bearer ${this.#options.token}`);
    const csrf = method === "GET" ? null : this.#options.csrf?.();
    if (csrf) headers.set(CSRF, csrf);
    return headers;
  }
}

// `never` marks what an operation does not take; it may then not be given.
type Part<Key extends string, Value> = [Value] extends [never]
  ? { [key in Key]?: never }
  : undefined extends Value
    ? { [key in Key]?: Value }
    : Record<never, never> extends Value
      ? { [key in Key]?: Value }
      : { [key in Key]: Value };
type Given<Name extends Operation> =
  Record<never, never> extends Arguments<Name> ? [given?: Arguments<Name>] : [given: Arguments<Name>];

interface Loose extends Manner {
  path?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  header?: Record<string, unknown> | undefined;
  body?: unknown;
}

function isPlain(body: unknown): boolean {
  return body !== undefined && !(body instanceof FormData) && !(body instanceof Blob);
}

function written(body: unknown): BodyInit {
  return isPlain(body) ? JSON.stringify(body) : (body as FormData | Blob);
}

async function read(response: Response, reading: "data" | "stream"): Promise<unknown> {
  if (reading === "stream") return response;
  return response.status === 204 ? undefined : await response.json();
}

async function problem(response: Response): Promise<Problem> {
  const told: Record<string, unknown> = await response.json().catch(() => ({}));
  const text = (key: string): string | null =>
    typeof told[key] === "string" ? (told[key] as string) : null;
  const wait = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new Problem(
    response.status,
    text("title") ?? response.statusText,
    text("detail") ?? "",
    text("id"),
    text("hint"),
    Number.isFinite(wait) ? wait : null,
  );
}
