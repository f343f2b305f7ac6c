// The curl command of a request, with a copy button.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { createButton, createElement } from "./dom.ts";

export class CurlCommand {
  readonly element: HTMLElement;
  readonly #text = createElement("pre");
  readonly #status = createElement("small", { role: "status" });

  constructor() {
    const copy = createButton(strings.copy, () => void this.#copy());
    const head = createElement("div", { class: "acts" }, createElement("h4", {}, strings.curl), this.#status, copy);
    this.element = createElement("div", { class: "line" }, head, this.#text);
  }

  /** Show another line. */
  setText(text: string): void {
    this.#text.textContent = text;
    this.#status.textContent = "";
  }

  async #copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.#text.textContent);
      this.#status.textContent = strings.copied;
    } catch {
      // A page that is reached by a bare address at home has no clipboard.
      getSelection()?.selectAllChildren(this.#text);
      this.#status.textContent = strings.copyByHand;
    }
  }
}
