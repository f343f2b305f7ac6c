// Words that were taken back and are offered to be said differently.

class Offers {
  #given = $state.raw<{ id: string | null; text: string } | null>(null);

  /** Offer words to whoever writes in a session; no words take back what was offered before. */
  give(id: string | null, text: string): void {
    this.#given = { id, text };
  }

  /** Take the words that are offered in a session, if any are. */
  take(id: string | null): string | null {
    const given = this.#given;
    if (!given || given.id !== id) return null;
    this.#given = null;
    return given.text;
  }
}

export const offers = new Offers();
