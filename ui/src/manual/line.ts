// The line for a terminal that asks for the same as a form, to copy.

import { manual as words } from "../words/manual.ts";
import { button, make } from "./dom.ts";

export class Line {
  readonly element: HTMLElement;
  readonly #text = make("pre");
  readonly #told = make("small", { role: "status" });

  constructor() {
    const copy = button(words.copy, () => void this.#copy());
    const head = make("div", { class: "acts" }, make("h4", {}, words.curl), this.#told, copy);
    this.element = make("div", { class: "line" }, head, this.#text);
  }

  /** Show another line. */
  write(text: string): void {
    this.#text.textContent = text;
    this.#told.textContent = "";
  }

  async #copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.#text.textContent);
      this.#told.textContent = words.copied;
    } catch {
      // A page that is reached by a bare address at home has no clipboard.
      getSelection()?.selectAllChildren(this.#text);
      this.#told.textContent = words.copyByHand;
    }
  }
}
