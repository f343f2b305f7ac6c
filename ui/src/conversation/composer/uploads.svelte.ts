// Files that go along with a message: each is uploaded at once, and the message names its ticket. Until it is sent
// the browser keeps the tickets, so that whoever comes back finds the files where they left them.

import { CSRF_HEADER } from "../../api/client.ts";
import type { UploadView } from "../../api/schema.ts";
import { formatBytes } from "../../design/formatting.ts";
import { app } from "../../state/app.svelte.ts";
import { strings } from "../../strings/index.ts";

/** As much as the server takes. */
const MOST_BYTES = 25 * 1024 * 1024;

/** A file that is there and was not sent yet. */
export interface StoredUpload {
  ticket: string;
  name: string;
  at: string;
}

/** Where tickets outlast the page. */
export interface UploadStorage {
  name: string;
  all: () => readonly StoredUpload[];
  keep: (stored: StoredUpload) => void;
  drop: (ticket: string) => void;
}

const NOWHERE: UploadStorage = { name: "", all: () => [], keep: () => undefined, drop: () => undefined };

/** What somebody left before all of it was uploaded. */
const detached = new Map<string, Uploads>();

/** Take up the files that were left in a place, or those that are kept for it. */
export function openUploads(storage: UploadStorage): Uploads {
  const uploads = detached.get(storage.name) ?? new Uploads(storage);
  detached.delete(storage.name);
  return uploads;
}

export class Upload {
  /** How much of it is there, from 0 to 1. */
  share = $state(0);
  ticket = $state<string | null>(null);
  error = $state<string | null>(null);
  /** When it was there, as far as that is known. */
  at = new Date().toISOString();
  /** What a picture looks like. */
  readonly preview: string | null;
  #request: XMLHttpRequest | null = null;

  constructor(
    readonly key: number,
    readonly file: File,
    ticket: string | null = null,
    readonly onuploaded: () => void = () => undefined,
  ) {
    this.ticket = ticket;
    this.preview = file.type.startsWith("image/") ? URL.createObjectURL(file) : null;
  }

  /** What is too big stays so, however often it is tried. */
  get isTooBig(): boolean {
    return this.file.size > MOST_BYTES;
  }

  get isUploading(): boolean {
    return this.ticket === null && this.error === null;
  }

  /** Upload it; what goes wrong is kept beside it. */
  begin(): void {
    this.error = this.isTooBig ? strings.composer.tooBig(formatBytes(MOST_BYTES)) : null;
    if (!this.error) this.#send(app.me?.csrf ?? "");
  }

  #send(csrf: string, isAgain = false): void {
    // `fetch` does not tell how much of a body is sent.
    const request = new XMLHttpRequest();
    request.open("POST", app.client.url("/api/attachments", { query: { name: this.file.name } }));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader(CSRF_HEADER, csrf);
    request.upload.onprogress = (event) => (this.share = event.total ? event.loaded / event.total : 0);
    request.onload = () => void (request.status === 403 && !isAgain ? this.#retryWithFreshCsrf(request, csrf) : this.#end(request));
    request.onerror = () => (this.error = strings.composer.unread);
    request.send(this.file);
    this.#request = request;
  }

  /** Let it go. */
  end(): void {
    this.#request?.abort();
    this.#request = null;
    if (this.preview) URL.revokeObjectURL(this.preview);
  }

  async #retryWithFreshCsrf(refused: XMLHttpRequest, stale: string): Promise<void> {
    const fresh = await app.refreshCsrf(stale);
    if (this.#request !== refused) return;
    if (fresh === null) this.#end(refused);
    else this.#send(fresh, true);
  }

  #end(request: XMLHttpRequest): void {
    const told: unknown = parsed(request.responseText);
    if (request.status === 201) {
      this.share = 1;
      this.ticket = (told as UploadView).ticket;
      this.at = new Date().toISOString();
      this.onuploaded();
    } else this.error = (told as { detail?: string } | null)?.detail ?? strings.composer.unread;
  }
}

export class Uploads {
  all = $state.raw<readonly Upload[]>([]);
  #next = 1;
  #storage: UploadStorage;

  constructor(storage = NOWHERE) {
    this.#storage = storage;
    this.all = storage.all().map(({ ticket, name, at }) => Object.assign(this.#createUploaded(ticket, name), { at }));
  }

  get isUploading(): boolean {
    return this.all.some((one) => one.isUploading);
  }

  /** Whether nothing goes along: what could not be uploaded does not. */
  get isEmpty(): boolean {
    return this.all.every((one) => one.error !== null);
  }

  /** The tickets of those that are there. */
  get tickets(): readonly string[] {
    return this.all.flatMap((one) => one.ticket ?? []);
  }

  /** What they are called, for the line that is shown until the server has it. */
  get names(): readonly string[] {
    return this.all.flatMap((one) => (one.ticket ? one.file.name : []));
  }

  add(files: Iterable<File>): void {
    const fresh = Array.from(files, (file) => {
      const one: Upload = new Upload(this.#next++, file, null, () => this.#store(one));
      return one;
    });
    this.all = [...this.all, ...fresh];
    for (const one of fresh) one.begin();
  }

  /** Let files go along that are there already, by their tickets and names. */
  restore(tickets: readonly string[], names: readonly string[]): void {
    const again = tickets.map((ticket, at) => this.#createUploaded(ticket, names[at] ?? ""));
    this.all = [...again, ...this.all];
    for (const one of again) this.#store(one);
  }

  /** Keep them somewhere else from now on. */
  move(storage: UploadStorage): void {
    for (const ticket of this.tickets) this.#storage.drop(ticket);
    this.#storage = storage;
    for (const one of this.all) this.#store(one);
  }

  remove(upload: Upload): void {
    upload.end();
    if (upload.ticket) this.#storage.drop(upload.ticket);
    this.all = this.all.filter((one) => one !== upload);
  }

  /** Begin anew after a message was sent; what could not be uploaded stays to be seen. */
  clear(): void {
    for (const one of this.all) if (!one.error) this.remove(one);
  }

  /** Nobody looks at them any more; what is under way still arrives. */
  close(): void {
    if (this.isUploading) detached.set(this.#storage.name, this);
    else for (const one of this.all) one.end();
  }

  #createUploaded(ticket: string, name: string): Upload {
    return new Upload(this.#next++, new File([], name), ticket);
  }

  #store({ ticket, file, at }: Upload): void {
    if (ticket) this.#storage.keep({ ticket, name: file.name, at });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
