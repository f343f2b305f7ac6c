// Selection of rows by keys and by a long press.

import { listDialog } from "./dialogs.svelte.ts";
import { selection } from "./selection.svelte.ts";

const LONG_MS = 450;
const STILL_PX = 8;

/** Hear a key in a row: Space or x chooses it, Shift and an arrow choose on, Escape lets go. */
export function handleRowKey(event: KeyboardEvent, id: string, to: string | null, order: () => readonly string[]): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLAnchorElement)) return;
  if (event.key === "Escape" && selection.count > 0) selection.clear();
  else if (event.key === " " || event.key === "x") selection.toggle(id);
  else if (event.key === "Delete") listDialog.open("forget", selection.count > 0 ? [...selection.ids] : [id]);
  else if (event.shiftKey && to !== null) return selection.extend(order(), id, to);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** A finger that stays on a row chooses it. */
export class LongPress {
  isDown = false;
  /** What follows the touch is not a tap. */
  wasLong = false;
  readonly #onlong: (id: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at: readonly [x: number, y: number] = [0, 0];

  constructor(onlong: (id: string) => void) {
    this.#onlong = onlong;
  }

  down({ pointerType, clientX, clientY }: PointerEvent, id: string | null): void {
    [this.isDown, this.wasLong] = [pointerType !== "mouse", false];
    if (!this.isDown || id === null) return;
    this.#at = [clientX, clientY];
    this.#timer = setTimeout(() => {
      this.wasLong = true;
      this.#onlong(id);
    }, LONG_MS);
  }

  move({ clientX, clientY }: PointerEvent): void {
    const [x, y] = this.#at;
    if (Math.hypot(clientX - x, clientY - y) > STILL_PX) clearTimeout(this.#timer);
  }

  up(): void {
    clearTimeout(this.#timer);
    this.isDown = false;
  }
}
