// Windows over everything else: each takes the focus and gives it back, and closes when one presses beside it.

import { untrack } from "svelte";
import type { Attachment } from "svelte/attachments";

class Modals {
  #open = $state.raw<readonly HTMLDialogElement[]>([]);

  /** The uppermost one that is open; everything outside of it is out of reach. */
  get top(): HTMLDialogElement | null {
    return this.#open.at(-1) ?? null;
  }

  add(dialog: HTMLDialogElement): void {
    this.#open = [...untrack(() => this.#open), dialog];
  }

  remove(dialog: HTMLDialogElement): void {
    this.#open = untrack(() => this.#open).filter((one) => one !== dialog);
  }
}

export const modals = new Modals();

/** What was written in a window, and would be gone with it. */
export class Written {
  /** Where somebody wrote last. */
  last: HTMLElement | null = null;
  readonly #before = new Map<HTMLInputElement | HTMLTextAreaElement, string>();

  /** Whether something is written there that was not there before. */
  get isAny(): boolean {
    return [...this.#before].some(([field, before]) => field.isConnected && field.value !== before);
  }

  /** Notice a field that somebody is about to write in; what they look for with it is nothing to be kept. */
  meet(target: EventTarget | null): void {
    const isText = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && isLine(target));
    if (!isText) return;
    this.last = target;
    if (!this.#before.has(target)) this.#before.set(target, target.value);
  }
}

function isLine({ type }: HTMLInputElement): boolean {
  return !["checkbox", "radio", "search", "file", "range"].includes(type);
}

/** Show a window; one that `isForm` is not closed by a slip beside it once something was written in it. */
export function modal({ isForm }: { isForm: boolean }): Attachment<HTMLDialogElement> {
  return (dialog) => {
    const before = document.activeElement;
    const unheard = closeBeside(dialog, isForm);
    dialog.showModal();
    modals.add(dialog);
    return () => {
      unheard();
      modals.remove(dialog);
      giveBack(before);
    };
  };
}

/** A press that began inside, as one that selects words, is none beside it, wherever it ends. */
function closeBeside(dialog: HTMLDialogElement, isForm: boolean): () => void {
  const ears = new AbortController();
  const { signal } = ears;
  let [isBeside, isWritten] = [false, false];
  dialog.addEventListener("input", () => (isWritten = isForm), { signal });
  dialog.addEventListener("pointerdown", ({ target }) => (isBeside = target === dialog), { signal });
  dialog.addEventListener("click", ({ target }) => target === dialog && isBeside && !isWritten && dialog.close(), {
    signal,
  });
  return () => ears.abort();
}

/** A browser gives the focus back only from a window that was closed, not from one that was taken away. */
function giveBack(before: Element | null): void {
  const isNowhere = document.activeElement === null || document.activeElement === document.body;
  if (isNowhere && before instanceof HTMLElement && before.isConnected) before.focus();
}
