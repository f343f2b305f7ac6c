// Words that were taken back and are offered to be said differently.

export interface Given {
  id: string | null;
  text: string;
  /** They are nowhere else: they come to what is written already. */
  isKept: boolean;
}

class Offers {
  #given = $state.raw<Given | null>(null);

  /** Offer words to whoever writes in a session; no words take back what was offered before. */
  give(id: string | null, text: string): void {
    this.#given = { id, text, isKept: false };
  }

  /** Give words to whoever writes in a session, whatever they have written. */
  keep(id: string | null, text: string): void {
    this.#given = { id, text, isKept: true };
  }

  /** Take the words that are offered in a session, if any are. */
  take(id: string | null): Given | null {
    const given = this.#given;
    if (!given || given.id !== id) return null;
    this.#given = null;
    return given;
  }
}

export const offers = new Offers();

/** Put what is offered to what is written already; null: there is no room for it beside somebody's own words. */
export function placed({ text, isKept }: Pick<Given, "text" | "isKept">, written: string, offered: string): string | null {
  const before = written.trim();
  if (!before || before === offered) return text;
  return isKept ? `${before}\n\n${text}` : null;
}
