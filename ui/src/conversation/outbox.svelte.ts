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
  /** Why it could not be sent; it is kept until somebody tries again or throws it away. */
  error: unknown;
}

/** What somebody wants to say. */
export interface Said {
  text: string;
  /** The tickets of what was uploaded, and how it is called. */
  tickets: readonly string[];
  files?: readonly string[];
  speech: Speech;
  /** What becomes of it while a turn runs; without it, as everywhere. */
  busy?: BusyMode | null;
  /** What a conversation begins with, if these are its first words. */
  first?: Pick<NewSession, "model" | "project">;
}

/** Carry words to the server, and come back once they are in what is shown. */
export type Carry = (said: Said, key: string) => Promise<void>;

export class Outbox {
  pending = $state.raw<readonly Pending[]>([]);
  readonly #said = new Map<string, Said>();
  readonly #carry: Carry;

  constructor(carry: Carry) {
    this.#carry = carry;
  }

  /** Send words; `since` is the newest message that is known. */
  async send(said: Said, since: number): Promise<void> {
    const key = newKey();
    const at = new Date().toISOString();
    this.#said.set(key, said);
    this.pending = [...this.pending, { key, text: said.text, files: said.files ?? [], at, since, error: null }];
    await this.#try(key);
  }

  async resend(key: string): Promise<void> {
    this.#mark(key, null);
    await this.#try(key);
  }

  /** Send again, in order, what did not reach the server at all; what it refused would be refused again. */
  async resendLost(): Promise<void> {
    const lost = this.pending.filter(({ error }) => error !== null && !isRefused(error));
    for (const { key } of lost) await this.resend(key);
  }

  /** Throw a line away; answers its text. */
  discard(key: string): string {
    const text = this.#said.get(key)?.text ?? "";
    this.#said.delete(key);
    this.pending = this.pending.filter((one) => one.key !== key);
    return text;
  }

  async #try(key: string): Promise<void> {
    const said = this.#said.get(key);
    if (!said) return;
    try {
      await this.#carry(said, key);
      this.discard(key);
    } catch (error) {
      this.#mark(key, error);
    }
  }

  #mark(key: string, error: unknown): void {
    this.pending = this.pending.map((one) => (one.key === key ? { ...one, error } : one));
  }
}

/** Tell what the server said no to from what did not reach it, or found it out of order. */
export function isRefused(error: unknown): error is Problem {
  return error instanceof Problem && error.status < 500;
}
