// The action of a key in the composer.

/** A key, as far as it matters here. */
export interface KeyPress {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing: boolean;
  /** 229 while a word is being put together: Safari tells it no other way. */
  keyCode: number;
}

/** What is the case when a key is pressed. */
export interface KeyContext {
  /** Commands are offered to choose from. */
  isOffering: boolean;
  isRunning: boolean;
  /** A screen without real keys: there Enter begins a line. */
  isTouch: boolean;
  /** Escape was pressed a moment ago. */
  isWarned: boolean;
}

export type KeyAction = "write" | "send" | "next" | "previous" | "take" | "put away" | "warn" | "stop";

/** Tell what a key means; `write` leaves it to the field. */
export function getKeyAction(press: KeyPress, now: KeyContext): KeyAction {
  // While a word is put together Enter and Escape belong to whoever puts it together.
  if (press.isComposing || press.keyCode === 229) return "write";
  if (now.isOffering) {
    const chosen = getCompletionAction(press);
    if (chosen) return chosen;
  }
  if (press.key === "Enter") return isSend(press, now.isTouch) ? "send" : "write";
  if (press.key === "Escape" && now.isRunning) return now.isWarned ? "stop" : "warn";
  return "write";
}

function getCompletionAction({ key, shiftKey }: KeyPress): KeyAction | null {
  if (key === "ArrowDown") return "next";
  if (key === "ArrowUp") return "previous";
  if (key === "Escape") return "put away";
  return (key === "Enter" || key === "Tab") && !shiftKey ? "take" : null;
}

function isSend(press: KeyPress, isTouch: boolean): boolean {
  if (press.ctrlKey || press.metaKey) return true;
  return !isTouch && !press.shiftKey && !press.altKey;
}

const TWICE_MS = 2000;

/** Escape twice: the first one warns, and only one that follows soon does it. */
export class DoublePress {
  #at = Number.NEGATIVE_INFINITY;

  warn(now: number): void {
    this.#at = now;
  }

  isWarned(now: number): boolean {
    return now - this.#at <= TWICE_MS;
  }

  forget(): void {
    this.#at = Number.NEGATIVE_INFINITY;
  }
}
