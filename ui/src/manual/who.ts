// The panel that says as whom requests are sent, and takes a token.

import { manual as words } from "../words/manual.ts";
import type { Caller, Known } from "./caller.ts";
import { labelled, make } from "./dom.ts";

export class Who {
  readonly element: HTMLElement;
  readonly #caller: Caller;
  readonly #said = make("p", { role: "status" }, words.who.unknown);
  #known: Known | null = null;

  constructor(caller: Caller) {
    this.#caller = caller;
    const token = make("input", { type: "password", autocomplete: "off", spellcheck: "false" });
    token.placeholder = "tl_…";
    token.addEventListener("input", () => {
      caller.token = token.value.trim();
      this.#say();
    });
    const field = labelled(token, words.who.field, "", words.who.help);
    this.element = make("section", { class: "who", "aria-label": words.who.title }, this.#said, field);
  }

  /** Ask who is logged in, and say it. */
  async renew(): Promise<void> {
    this.#known = await this.#caller.renew();
    this.#say();
  }

  #say(): void {
    const isKnown = Boolean(this.#caller.token) || this.#known?.kind === "login";
    this.element.classList.toggle("nobody", !isKnown && this.#known !== null);
    this.#said.replaceChildren(...this.#words());
  }

  #words(): (Node | string)[] {
    if (this.#caller.token) return [words.who.token];
    if (this.#known === null) return [words.who.unknown];
    if (this.#known.kind === "login") return [words.who.login(this.#known.name)];
    if (this.#known.kind === "away") return [words.who.away];
    return [`${words.who.nobody} `, make("a", { href: "/login" }, words.who.logIn), words.who.orToken];
  }
}
