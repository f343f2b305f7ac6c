// Notices: what was done, with undo where there is one, and what went wrong.

import { getErrorHint, getErrorText } from "./errors.ts";

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
const MAX_INFO = 3;

export class Notices {
  all = $state.raw<readonly Notice[]>([]);
  /** What a screen reader is to say next; politely, and not word by word. */
  announcement = $state("");
  #next = 1;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #holds = new Set<string>();

  /** Tell what was done. */
  show(text: string, undo: (() => void) | null = null, label: string | null = null): void {
    this.#add({ key: this.#next++, text, hint: null, isBad: false, undo, label });
  }

  /** Tell what went wrong: what, why and what to do; it stays until it is put away. */
  showError(error: unknown): void {
    this.showWarning(getErrorText(error), getErrorHint(error));
  }

  /** Tell in words of one's own what went wrong. */
  showWarning(text: string, hint: string | null): void {
    this.#add({ key: this.#next++, text, hint, isBad: true, undo: null, label: null });
  }

  /** Do something, and tell if it fails; answers whether it was done. */
  async attempt(what: () => Promise<unknown>): Promise<boolean> {
    try {
      await what();
      return true;
    } catch (error) {
      this.showError(error);
      return false;
    }
  }

  announce(text: string): void {
    this.announcement = text;
  }

  dismiss(key: number): void {
    this.#stopTimer(key);
    this.all = this.all.filter((notice) => notice.key !== key);
    // The button that was pressed is gone, and the focus with it.
    this.resume("focus");
  }

  /** Let nothing go while a pointer or the focus is there. */
  pause(by: "pointer" | "focus"): void {
    this.#holds.add(by);
    for (const key of [...this.#timers.keys()]) this.#stopTimer(key);
  }

  resume(by: "pointer" | "focus"): void {
    this.#holds.delete(by);
    if (this.all.length === 0) this.#holds.clear();
    for (const notice of this.all) this.#startTimer(notice);
  }

  #add(notice: Notice): void {
    // An error is never pushed out by others; the same one again takes the place of the first.
    const others = this.all.filter(({ text, isBad }) => !(isBad && notice.isBad && text === notice.text));
    const infos = others.filter(({ isBad }) => !isBad).slice(1 - MAX_INFO);
    this.all = [...others.filter((one) => one.isBad || infos.includes(one)), notice];
    this.#startTimer(notice);
  }

  #startTimer({ key, isBad }: Notice): void {
    if (isBad || this.#holds.size > 0 || this.#timers.has(key)) return;
    this.#timers.set(key, setTimeout(() => this.dismiss(key), STAY_MS));
  }

  #stopTimer(key: number): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }
}

export const notices = new Notices();
