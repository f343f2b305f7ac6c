// Who sends the requests: the logged-in account, or the token that was entered; and the panel that shows it.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { createElement, createField } from "./dom.ts";

/** How a request shows who asks. */
export interface RequestCredentialsInit {
  credentials: RequestCredentials;
  headers: Readonly<Record<string, string>>;
}

/** Who is known: a name, nobody, or the server did not say. */
export type LoginState = { kind: "login"; name: string } | { kind: "nobody" } | { kind: "away" };

interface Me {
  account?: { name?: string };
  csrf?: string | null;
}

export class Authentication {
  /** It is nowhere but here, and gone with the page. */
  token = "";
  #csrf: string | null = null;

  /** Ask who is logged in. */
  async refresh(): Promise<LoginState> {
    this.#csrf = null;
    try {
      const response = await fetch("/api/me", { credentials: "same-origin" });
      if (response.status === 401) return { kind: "nobody" };
      if (!response.ok) return { kind: "away" };
      const me = (await response.json()) as Me;
      this.#csrf = me.csrf ?? null;
      return { kind: "login", name: me.account?.name ?? "" };
    } catch {
      return { kind: "away" };
    }
  }

  /** Answer what goes along with a request; what changes something needs the word of the newest login. */
  async authorize(method: string): Promise<RequestCredentialsInit> {
    if (this.token) return { credentials: "omit", headers: { Authorization: `Bearer ${this.token}` } };
    if (method !== "GET") await this.refresh();
    return { credentials: "same-origin", headers: this.#csrf ? { "X-CSRF-Token": this.#csrf } : {} };
  }
}

export class AuthenticationPanel {
  readonly element: HTMLElement;
  readonly #authentication: Authentication;
  readonly #status = createElement("p", { role: "status" }, strings.who.unknown);
  #login: LoginState | null = null;

  constructor(authentication: Authentication) {
    this.#authentication = authentication;
    const token = createElement("input", { type: "password", autocomplete: "off", spellcheck: "false" });
    token.placeholder = "tl_…";
    token.addEventListener("input", () => {
      authentication.token = token.value.trim();
      this.#update();
    });
    const field = createField(token, strings.who.field, "", strings.who.help);
    this.element = createElement("section", { class: "who", "aria-label": strings.who.title }, this.#status, field);
  }

  /** Ask who is logged in, and say it. */
  async refresh(): Promise<void> {
    this.#login = await this.#authentication.refresh();
    this.#update();
  }

  #update(): void {
    const isKnown = Boolean(this.#authentication.token) || this.#login?.kind === "login";
    this.element.classList.toggle("nobody", !isKnown && this.#login !== null);
    this.#status.replaceChildren(...this.#describe());
  }

  #describe(): (Node | string)[] {
    if (this.#authentication.token) return [strings.who.token];
    if (this.#login === null) return [strings.who.unknown];
    if (this.#login.kind === "login") return [strings.who.login(this.#login.name)];
    if (this.#login.kind === "away") return [strings.who.away];
    return [`${strings.who.nobody} `, createElement("a", { href: "/login" }, strings.who.logIn), strings.who.orToken];
  }
}
