// What was written here and is not in the transcript yet. Each has a key of its own, so that sending it once
// more never says it twice; what could not be sent is kept until somebody tries again or throws it away.

import { createKey } from "../api/idempotency.ts";
import type { BusyMode, SessionRequest, Speech } from "../api/schema.ts";
import { isRejected } from "../state/errors.ts";

/** A line that was sent from here and has not come back from the server yet. */
export interface Pending {
  key: string;
  text: string;
  files: readonly string[];
  at: string;
  /** The newest message that was known before: what comes back of it is newer. */
  since: number;
  /** The last line that there was before; null: that is not known. */
  after: number | null;
  /** Why it could not be sent; it is kept until somebody tries again or throws it away. */
  error: unknown;
}

/** What somebody wants to say. */
export interface OutgoingMessage {
  text: string;
  /** The tickets of what was uploaded, and how it is called. */
  tickets: readonly string[];
  files?: readonly string[];
  /** Null: as the conversation usually has it. */
  speech: Speech | null;
  /** What becomes of it while a turn runs; without it, as everywhere. */
  busy?: BusyMode | null;
  /** What a conversation begins with, if these are its first words. */
  first?: Pick<SessionRequest, "model" | "project">;
}

/** What was said and has not arrived, as it outlasts the page. */
export interface StoredMessage {
  key: string;
  at: string;
  since: number;
  after: number | null;
  said: OutgoingMessage;
}

/** Where it outlasts the page. */
export interface OutboxStorage {
  name: string;
  all: () => readonly StoredMessage[];
  keep: (stored: StoredMessage) => void;
  drop: (key: string) => void;
}

/** Carry words to the server, and come back once they are in what is shown. */
export type SendFunction = (said: OutgoingMessage, key: string) => Promise<void>;

/** The outboxes that somebody left before everything had arrived. */
const detached = new Map<string, Outbox>();

/** Take up the outbox that was left in a place, or begin one. */
export function openOutbox(storage: OutboxStorage, transmit: SendFunction): Outbox {
  const outbox = detached.get(storage.name) ?? new Outbox(transmit, storage);
  detached.delete(storage.name);
  outbox.transmit = transmit;
  return outbox;
}

export class Outbox {
  pending = $state.raw<readonly Pending[]>([]);
  /** Whoever shows the conversation now carries what is said in it. */
  transmit: SendFunction;
  /** The conversation that the first words have made, for those that wait behind them. */
  sessionId: string | null = null;
  readonly #messages = new Map<string, OutgoingMessage>();
  #storage: OutboxStorage;
  #lastSend: Promise<void> = Promise.resolve();

  /** Begin with what a page left behind; `transmit` sends it with whatever is sent next. */
  constructor(transmit: SendFunction, storage: OutboxStorage) {
    [this.transmit, this.#storage] = [transmit, storage];
    for (const stored of storage.all()) this.#add(stored);
  }

  /** Send words, after all that was sent before them; `since` is the newest message that is known, `after` the last line. */
  async send(said: OutgoingMessage, since: number, after: number | null = null): Promise<void> {
    const stored = { key: createKey(), at: new Date().toISOString(), since, after, said };
    this.#storage.keep(stored);
    this.#add(stored);
    await this.resendFailed();
  }

  async resend(key: string): Promise<void> {
    this.#setError((one) => one.key === key, null);
    await this.resendFailed();
  }

  /** Send again, in order, what did not reach the server at all; what it refused would be refused again. */
  async resendFailed(): Promise<void> {
    this.#setError(({ error }) => !isRejected(error), null);
    // One after the other: the first words make the conversation that the next ones are said in.
    this.#lastSend = this.#lastSend.then(() => this.#sendPending());
    await this.#lastSend;
  }

  /** Throw a line away; answers what it said. */
  discard(key: string): OutgoingMessage | null {
    const said = this.#messages.get(key) ?? null;
    this.#messages.delete(key);
    this.#storage.drop(key);
    this.pending = this.pending.filter((one) => one.key !== key);
    return said;
  }

  /** These words have made a conversation: those that wait behind them are said there. */
  setSession(key: string, home: string): void {
    this.#messages.delete(key);
    this.#storage.drop(key);
    this.sessionId = home;
  }

  /** Keep what is here in another place from now on. */
  move(storage: OutboxStorage): void {
    for (const { key, at, since, after } of this.pending) {
      const said = this.#messages.get(key);
      if (said) storage.keep({ key, at, since, after, said });
      this.#storage.drop(key);
    }
    const isLeft = detached.get(this.#storage.name) === this && detached.delete(this.#storage.name);
    this.#storage = storage;
    if (isLeft) this.detach();
  }

  /** Go away: whoever comes back finds what is still under way, or could not be sent. */
  detach(): void {
    if (this.pending.length > 0) detached.set(this.#storage.name, this);
  }

  #add({ key, at, since, after, said }: StoredMessage): void {
    const { text, files = [] } = said;
    this.#messages.set(key, said);
    this.pending = [...this.pending, { key, text, files, at, since, after, error: null }];
  }

  /** Send whatever waits; what comes after something that did not reach the server waits with it. */
  async #sendPending(): Promise<void> {
    for (;;) {
      const next = this.pending.find(({ error }) => error === null);
      const said = next && this.#messages.get(next.key);
      if (this.pending.length === 0) this.sessionId = null;
      if (!said) return;
      try {
        await this.transmit(said, next.key);
        this.discard(next.key);
      } catch (error) {
        this.#setError((one) => one.key === next.key || (one.error === null && !isRejected(error)), error);
      }
    }
  }

  #setError(isMeant: (one: Pending) => boolean, error: unknown): void {
    this.pending = this.pending.map((one) => (isMeant(one) ? { ...one, error } : one));
  }
}
