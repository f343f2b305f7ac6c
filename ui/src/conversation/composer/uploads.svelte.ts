// Files that go along with a message: each is uploaded at once, and the message names its ticket. Until it is sent
// the browser keeps the tickets, so that whoever comes back finds the files where they left them.

import { CSRF } from "../../api/client.ts";
import type { UploadShape } from "../../api/schema.ts";
import { bytes } from "../../design/moments.ts";
import { hub } from "../../state/hub.svelte.ts";
import { words } from "../../words/index.ts";

/** As much as the server takes. */
const MOST_BYTES = 25 * 1024 * 1024;

/** A file that is there and was not sent yet. */
export interface Filed {
  ticket: string;
  name: string;
  at: string;
}

/** Where tickets outlast the page. */
export interface Folder {
  name: string;
  all: () => readonly Filed[];
  keep: (filed: Filed) => void;
  drop: (ticket: string) => void;
}

const NOWHERE: Folder = { name: "", all: () => [], keep: () => undefined, drop: () => undefined };

/** What somebody left before all of it was uploaded. */
const left = new Map<string, Uploads>();

/** Take up the files that were left in a place, or those that are kept for it. */
export function uploadsAt(folder: Folder): Uploads {
  const uploads = left.get(folder.name) ?? new Uploads(folder);
  left.delete(folder.name);
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
    readonly onthere: () => void = () => undefined,
  ) {
    this.ticket = ticket;
    this.preview = file.type.startsWith("image/") ? URL.createObjectURL(file) : null;
  }

  /** What is too big stays so, however often it is tried. */
  get isTooBig(): boolean {
    return this.file.size > MOST_BYTES;
  }

  get isUnderWay(): boolean {
    return this.ticket === null && this.error === null;
  }

  /** Upload it; what goes wrong is kept beside it. */
  begin(): void {
    this.error = this.isTooBig ? words.composer.tooBig(bytes(MOST_BYTES)) : null;
    if (!this.error) this.#send(hub.me?.csrf ?? "");
  }

  #send(csrf: string, isAgain = false): void {
    // `fetch` does not tell how much of a body is sent.
    const request = new XMLHttpRequest();
    request.open("POST", hub.client.address("/api/attachments", { query: { name: this.file.name } }));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader(CSRF, csrf);
    request.upload.onprogress = (event) => (this.share = event.total ? event.loaded / event.total : 0);
    request.onload = () => void (request.status === 403 && !isAgain ? this.#sendAnew(request, csrf) : this.#end(request));
    request.onerror = () => (this.error = words.composer.unread);
    request.send(this.file);
    this.#request = request;
  }

  /** Let it go. */
  end(): void {
    this.#request?.abort();
    this.#request = null;
    if (this.preview) URL.revokeObjectURL(this.preview);
  }

  async #sendAnew(refused: XMLHttpRequest, stale: string): Promise<void> {
    const fresh = await hub.freshWord(stale);
    if (this.#request !== refused) return;
    if (fresh === null) this.#end(refused);
    else this.#send(fresh, true);
  }

  #end(request: XMLHttpRequest): void {
    const told: unknown = parsed(request.responseText);
    if (request.status === 201) {
      this.share = 1;
      this.ticket = (told as UploadShape).ticket;
      this.at = new Date().toISOString();
      this.onthere();
    } else this.error = (told as { detail?: string } | null)?.detail ?? words.composer.unread;
  }
}

export class Uploads {
  all = $state.raw<readonly Upload[]>([]);
  #next = 1;
  #folder: Folder;

  constructor(folder = NOWHERE) {
    this.#folder = folder;
    this.all = folder.all().map(({ ticket, name, at }) => Object.assign(this.#there(ticket, name), { at }));
  }

  get isUnderWay(): boolean {
    return this.all.some((one) => one.isUnderWay);
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
      const one: Upload = new Upload(this.#next++, file, null, () => this.#keep(one));
      return one;
    });
    this.all = [...this.all, ...fresh];
    for (const one of fresh) one.begin();
  }

  /** Let files go along that are there already, by their tickets and names. */
  takeBack(tickets: readonly string[], names: readonly string[]): void {
    const again = tickets.map((ticket, at) => this.#there(ticket, names[at] ?? ""));
    this.all = [...again, ...this.all];
    for (const one of again) this.#keep(one);
  }

  /** Keep them somewhere else from now on. */
  move(folder: Folder): void {
    for (const ticket of this.tickets) this.#folder.drop(ticket);
    this.#folder = folder;
    for (const one of this.all) this.#keep(one);
  }

  remove(upload: Upload): void {
    upload.end();
    if (upload.ticket) this.#folder.drop(upload.ticket);
    this.all = this.all.filter((one) => one !== upload);
  }

  /** Begin anew after a message was sent; what could not be uploaded stays to be seen. */
  clear(): void {
    for (const one of this.all) if (!one.error) this.remove(one);
  }

  /** Nobody looks at them any more; what is under way still arrives. */
  close(): void {
    if (this.isUnderWay) left.set(this.#folder.name, this);
    else for (const one of this.all) one.end();
  }

  #there(ticket: string, name: string): Upload {
    return new Upload(this.#next++, new File([], name), ticket);
  }

  #keep({ ticket, file, at }: Upload): void {
    if (ticket) this.#folder.keep({ ticket, name: file.name, at });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
