// Who asks: whoever is logged in here, or whoever has the token that was pasted.

/** How a request shows who asks. */
export interface Shown {
  credentials: RequestCredentials;
  headers: Readonly<Record<string, string>>;
}

/** Who is known: a name, nobody, or the server did not say. */
export type Known = { kind: "login"; name: string } | { kind: "nobody" } | { kind: "away" };

interface Me {
  account?: { name?: string };
  csrf?: string | null;
}

export class Caller {
  /** It is nowhere but here, and gone with the page. */
  token = "";
  #csrf: string | null = null;

  /** Ask who is logged in. */
  async renew(): Promise<Known> {
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
  async show(method: string): Promise<Shown> {
    if (this.token) return { credentials: "omit", headers: { Authorization: `Bearer ${this.token}` } };
    if (method !== "GET") await this.renew();
    return { credentials: "same-origin", headers: this.#csrf ? { "X-CSRF-Token": this.#csrf } : {} };
  }
}
