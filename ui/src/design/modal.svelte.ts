// Modal windows: each takes the focus and restores it, and closes when its backdrop is pressed.

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
export class UnsavedInput {
  /** Where somebody wrote last. */
  lastField: HTMLElement | null = null;
  readonly #before = new Map<HTMLInputElement | HTMLTextAreaElement, string>();

  /** Whether something is written there that was not there before. */
  get hasChanges(): boolean {
    return [...this.#before].some(([field, before]) => field.isConnected && field.value !== before);
  }

  /** Notice a field that somebody is about to write in; what they look for with it is nothing to be kept. */
  track(target: EventTarget | null): void {
    const isText = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && isTextInput(target));
    if (!isText) return;
    this.lastField = target;
    if (!this.#before.has(target)) this.#before.set(target, target.value);
  }
}

function isTextInput({ type }: HTMLInputElement): boolean {
  return !["checkbox", "radio", "search", "file", "range"].includes(type);
}

/** Show a window; one that `isForm` is not closed by a slip beside it once something was written in it. */
export function modal({ isForm }: { isForm: boolean }): Attachment<HTMLDialogElement> {
  return (dialog) => {
    const before = document.activeElement;
    const removeListeners = closeOnBackdrop(dialog, isForm);
    dialog.showModal();
    modals.add(dialog);
    return () => {
      removeListeners();
      modals.remove(dialog);
      restoreFocus(before);
    };
  };
}

/** A press that began inside, as one that selects words, is none beside it, wherever it ends. */
function closeOnBackdrop(dialog: HTMLDialogElement, isForm: boolean): () => void {
  const listeners = new AbortController();
  const { signal } = listeners;
  let [isOnBackdrop, isDirty] = [false, false];
  dialog.addEventListener("input", () => (isDirty = isForm), { signal });
  dialog.addEventListener("pointerdown", ({ target }) => (isOnBackdrop = target === dialog), { signal });
  dialog.addEventListener("click", ({ target }) => target === dialog && isOnBackdrop && !isDirty && dialog.close(), {
    signal,
  });
  return () => listeners.abort();
}

/** A browser gives the focus back only from a window that was closed, not from one that was taken away. */
function restoreFocus(before: Element | null): void {
  const isNowhere = document.activeElement === null || document.activeElement === document.body;
  if (isNowhere && before instanceof HTMLElement && before.isConnected) before.focus();
}
