// Short notices: what was done, with a way back where there is one, and what went wrong.

import { hintOf, whatOf } from "./reasons.ts";

export interface Notice {
  key: number;
  text: string;
  hint: string | null;
  isBad: boolean;
  undo: (() => void) | null;
  /** What the way back is called, if it is not simply undone. */
  label: string | null;
}

const STAY_MS = 6000;
/** So many that tell what was done stand there at a time. */
const CALM = 3;

export class Notices {
  all = $state.raw<readonly Notice[]>([]);
  /** What a screen reader is to say next; politely, and not word by word. */
  spoken = $state("");
  #next = 1;
  readonly #clocks = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #holds = new Set<string>();

  /** Tell what was done. */
  tell(text: string, undo: (() => void) | null = null, label: string | null = null): void {
    this.#add({ key: this.#next++, text, hint: null, isBad: false, undo, label });
  }

  /** Tell what went wrong: what, why and what to do; it stays until it is put away. */
  fail(error: unknown): void {
    this.warn(whatOf(error), hintOf(error));
  }

  /** Tell in words of one's own what went wrong. */
  warn(text: string, hint: string | null): void {
    this.#add({ key: this.#next++, text, hint, isBad: true, undo: null, label: null });
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
    this.#stop(key);
    this.all = this.all.filter((notice) => notice.key !== key);
    // The button that was pressed is gone, and the focus with it.
    this.release("focus");
  }

  /** Let nothing go while a pointer or the focus is there. */
  hold(by: "pointer" | "focus"): void {
    this.#holds.add(by);
    for (const key of [...this.#clocks.keys()]) this.#stop(key);
  }

  release(by: "pointer" | "focus"): void {
    this.#holds.delete(by);
    if (this.all.length === 0) this.#holds.clear();
    for (const notice of this.all) this.#wind(notice);
  }

  #add(notice: Notice): void {
    // An error is never pushed out by others; the same one again takes the place of the first.
    const others = this.all.filter(({ text, isBad }) => !(isBad && notice.isBad && text === notice.text));
    const calm = others.filter(({ isBad }) => !isBad).slice(1 - CALM);
    this.all = [...others.filter((one) => one.isBad || calm.includes(one)), notice];
    this.#wind(notice);
  }

  #wind({ key, isBad }: Notice): void {
    if (isBad || this.#holds.size > 0 || this.#clocks.has(key)) return;
    this.#clocks.set(key, setTimeout(() => this.putAway(key), STAY_MS));
  }

  #stop(key: number): void {
    clearTimeout(this.#clocks.get(key));
    this.#clocks.delete(key);
  }
}

export const notices = new Notices();
