// Short notices: what was done, with a way back where there is one, and what went wrong.

import { Problem } from "../api/client.ts";
import { words } from "../words/index.ts";

export interface Notice {
  key: number;
  text: string;
  hint: string | null;
  isBad: boolean;
  undo: (() => void) | null;
}

const STAY_MS = 6000;

class Notices {
  all = $state.raw<readonly Notice[]>([]);
  /** What a screen reader is to say next; politely, and not word by word. */
  spoken = $state("");
  #next = 1;

  /** Tell what was done. */
  tell(text: string, undo: (() => void) | null = null): void {
    this.#add({ key: this.#next++, text, hint: null, isBad: false, undo });
  }

  /** Tell what went wrong: what, why and what to do; it stays until it is put away. */
  fail(error: unknown): void {
    const isKnown = error instanceof Problem;
    const text = isKnown ? error.message : words.common.unreachable;
    const hint = isKnown ? error.hint : words.common.unreachableHint;
    this.#add({ key: this.#next++, text, hint, isBad: true, undo: null });
  }

  /** Do something, and tell if it fails; answers whether it was done. */
  async attempt(what: () => Promise<unknown>): Promise<boolean> {
    try {
      await what();
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  say(text: string): void {
    this.spoken = text;
  }

  putAway(key: number): void {
    this.all = this.all.filter((notice) => notice.key !== key);
  }

  #add(notice: Notice): void {
    this.all = [...this.all.slice(-2), notice];
    if (!notice.isBad) setTimeout(() => this.putAway(notice.key), STAY_MS);
  }
}

export const notices = new Notices();
