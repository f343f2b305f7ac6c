// What was written here and is not in the transcript yet. Each has a key of its own, so that sending it once
// more never says it twice; what could not be sent is kept until somebody tries again or throws it away.

import { Problem } from "../api/client.ts";
import { newKey } from "../api/once.ts";
import type { BusyMode, NewSession, Speech } from "../api/schema.ts";

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
export interface Said {
  text: string;
  /** The tickets of what was uploaded, and how it is called. */
  tickets: readonly string[];
  files?: readonly string[];
  /** Null: as the conversation usually has it. */
  speech: Speech | null;
  /** What becomes of it while a turn runs; without it, as everywhere. */
  busy?: BusyMode | null;
  /** What a conversation begins with, if these are its first words. */
  first?: Pick<NewSession, "model" | "project">;
}

/** What was said and has not arrived, as it outlasts the page. */
export interface Unsent {
  key: string;
  at: string;
  since: number;
  after: number | null;
  said: Said;
}

/** Where it outlasts the page. */
export interface Shelf {
  name: string;
  all: () => readonly Unsent[];
  keep: (unsent: Unsent) => void;
  drop: (key: string) => void;
}

/** Carry words to the server, and come back once they are in what is shown. */
export type Carry = (said: Said, key: string) => Promise<void>;

/** The outboxes that somebody left before everything had arrived. */
const left = new Map<string, Outbox>();

/** Take up the outbox that was left in a place, or begin one. */
export function outboxAt(shelf: Shelf, carry: Carry): Outbox {
  const outbox = left.get(shelf.name) ?? new Outbox(carry, shelf);
  left.delete(shelf.name);
  outbox.carry = carry;
  return outbox;
}

export class Outbox {
  pending = $state.raw<readonly Pending[]>([]);
  /** Whoever shows the conversation now carries what is said in it. */
  carry: Carry;
  /** The conversation that the first words have made, for those that wait behind them. */
  home: string | null = null;
  readonly #said = new Map<string, Said>();
  #shelf: Shelf;
  #last: Promise<void> = Promise.resolve();

  /** Begin with what a page left behind; `carry` sends it with whatever is sent next. */
  constructor(carry: Carry, shelf: Shelf) {
    [this.carry, this.#shelf] = [carry, shelf];
    for (const unsent of shelf.all()) this.#take(unsent);
  }

  /** Send words, after all that was sent before them; `since` is the newest message that is known, `after` the last line. */
  async send(said: Said, since: number, after: number | null = null): Promise<void> {
    const unsent = { key: newKey(), at: new Date().toISOString(), since, after, said };
    this.#shelf.keep(unsent);
    this.#take(unsent);
    await this.resendLost();
  }

  async resend(key: string): Promise<void> {
    this.#mark((one) => one.key === key, null);
    await this.resendLost();
  }

  /** Send again, in order, what did not reach the server at all; what it refused would be refused again. */
  async resendLost(): Promise<void> {
    this.#mark(({ error }) => !isRefused(error), null);
    // One after the other: the first words make the conversation that the next ones are said in.
    this.#last = this.#last.then(() => this.#pass());
    await this.#last;
  }

  /** Throw a line away; answers what it said. */
  discard(key: string): Said | null {
    const said = this.#said.get(key) ?? null;
    this.#said.delete(key);
    this.#shelf.drop(key);
    this.pending = this.pending.filter((one) => one.key !== key);
    return said;
  }

  /** These words have made a conversation: those that wait behind them are said there. */
  arrive(key: string, home: string): void {
    this.#said.delete(key);
    this.#shelf.drop(key);
    this.home = home;
  }

  /** Keep what is here in another place from now on. */
  move(shelf: Shelf): void {
    for (const { key, at, since, after } of this.pending) {
      const said = this.#said.get(key);
      if (said) shelf.keep({ key, at, since, after, said });
      this.#shelf.drop(key);
    }
    const isLeft = left.get(this.#shelf.name) === this && left.delete(this.#shelf.name);
    this.#shelf = shelf;
    if (isLeft) this.leave();
  }

  /** Go away: whoever comes back finds what is still under way, or could not be sent. */
  leave(): void {
    if (this.pending.length > 0) left.set(this.#shelf.name, this);
  }

  #take({ key, at, since, after, said }: Unsent): void {
    const { text, files = [] } = said;
    this.#said.set(key, said);
    this.pending = [...this.pending, { key, text, files, at, since, after, error: null }];
  }

  /** Send whatever waits; what comes after something that did not reach the server waits with it. */
  async #pass(): Promise<void> {
    for (;;) {
      const next = this.pending.find(({ error }) => error === null);
      const said = next && this.#said.get(next.key);
      if (this.pending.length === 0) this.home = null;
      if (!said) return;
      try {
        await this.carry(said, next.key);
        this.discard(next.key);
      } catch (error) {
        this.#mark((one) => one.key === next.key || (one.error === null && !isRefused(error)), error);
      }
    }
  }

  #mark(isMeant: (one: Pending) => boolean, error: unknown): void {
    this.pending = this.pending.map((one) => (isMeant(one) ? { ...one, error } : one));
  }
}

/** Tell what the server said no to from what did not reach it, or found it out of order. */
export function isRefused(error: unknown): error is Problem {
  return error instanceof Problem && error.status < 500;
}
