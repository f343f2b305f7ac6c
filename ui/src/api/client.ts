// The typed client of the HTTP API. `call` knows the arguments and the response of each operation by its name.

import { ROUTES, type Operations } from "./schema.ts";

/** The header that proves that the page itself asks, and no other one. */
export const CSRF_HEADER = "X-CSRF-Token";

export type Operation = keyof Operations & keyof typeof ROUTES;

/** What an operation takes: its path, query, header and body, each only where there is one. */
export type Arguments<Name extends Operation> = ArgumentPart<"path", Operations[Name]["path"]> &
  ArgumentPart<"query", Operations[Name]["query"]> &
  ArgumentPart<"header", Operations[Name]["header"]> &
  ArgumentPart<"body", Operations[Name]["body"]> & RequestOptions;

/** How it is asked: until when, and whether also while the page is being left. */
interface RequestOptions {
  signal?: AbortSignal | undefined;
  keepalive?: boolean | undefined;
}

/** What came back: the data, the revision to name in `If-Match`, and the status. */
export interface ApiResponse<Data> {
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
  /** Replaces `fetch` in tests. */
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
    this.#fetch = options.fetch ?? ((...args) => fetch(...args));
  }

  /** Ask for one operation; what the server refuses is thrown as a `Problem`. */
  async call<Name extends Operation>(
    name: Name,
    ...args: CallArguments<Name>
  ): Promise<ApiResponse<Operations[Name]["answer"]>> {
    const request: LooseArguments = args[0] ?? {};
    const [method, path, format] = ROUTES[name];
    const response = await this.#fetch(this.url(path, request), {
      method,
      credentials: "same-origin",
      headers: this.#headers(method, request),
      ...(request.body === undefined ? {} : { body: serializeBody(request.body) }),
      ...(request.signal ? { signal: request.signal } : {}),
      ...(request.keepalive ? { keepalive: true } : {}),
    });
    if (!response.ok) throw await parseProblem(response);
    const data = (await readBody(response, format)) as Operations[Name]["answer"];
    return { data, etag: response.headers.get("ETag"), status: response.status };
  }

  /** Fill in a path; what is `undefined` or `null` in a query is left out. */
  url(path: string, { path: parts = {}, query = {} }: LooseArguments): string {
    const filled = path.replace(/\{(\w+)(?::\w+)?\}/g, (_, key: string) =>
      encodeURIComponent(String(parts[key])),
    );
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) search.append(key, String(one));
      }
    }
    const queryString = search.size > 0 ? `?${search}` : "";
    return `${this.#options.base ?? ""}${filled}${queryString}`;
  }

  #headers(method: string, { header = {}, body }: LooseArguments): Headers {
    const headers = new Headers();
    for (const [key, value] of Object.entries(header)) {
      if (value !== undefined && value !== null) headers.set(key, String(value));
    }
    if (isPlain(body)) headers.set("Content-Type", "application/json");
    if (this.#options.token) headers.set("Authorization", `Bearer ${this.#options.token}`);
    const csrf = method === "GET" ? null : this.#options.csrf?.();
    if (csrf) headers.set(CSRF_HEADER, csrf);
    return headers;
  }
}

// `never` marks what an operation does not take; it may then not be given.
type ArgumentPart<Key extends string, Value> = [Value] extends [never]
  ? { [key in Key]?: never }
  : undefined extends Value
    ? { [key in Key]?: Value }
    : Record<never, never> extends Value
      ? { [key in Key]?: Value }
      : { [key in Key]: Value };
type CallArguments<Name extends Operation> =
  Record<never, never> extends Arguments<Name> ? [given?: Arguments<Name>] : [given: Arguments<Name>];

interface LooseArguments extends RequestOptions {
  path?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  header?: Record<string, unknown> | undefined;
  body?: unknown;
}

function isPlain(body: unknown): boolean {
  return body !== undefined && !(body instanceof FormData) && !(body instanceof Blob);
}

function serializeBody(body: unknown): BodyInit {
  return isPlain(body) ? JSON.stringify(body) : (body as FormData | Blob);
}

async function readBody(response: Response, format: "data" | "stream"): Promise<unknown> {
  if (format === "stream") return response;
  return response.status === 204 ? undefined : await response.json();
}

async function parseProblem(response: Response): Promise<Problem> {
  const body: Record<string, unknown> = await response.json().catch(() => ({}));
  const text = (key: string): string | null =>
    typeof body[key] === "string" ? (body[key] as string) : null;
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
