// Text that is suggested to the composer, such as a message that was undone.

export interface Suggestion {
  id: string | null;
  text: string;
  /** They are nowhere else: they come to what is written already. */
  isKept: boolean;
}

class SuggestedText {
  #suggestion = $state.raw<Suggestion | null>(null);

  /** Offer words to whoever writes in a session; no words take back what was offered before. */
  suggest(id: string | null, text: string): void {
    this.#suggestion = { id, text, isKept: false };
  }

  /** Give words to whoever writes in a session, whatever they have written. */
  append(id: string | null, text: string): void {
    this.#suggestion = { id, text, isKept: true };
  }

  /** Take the words that are offered in a session, if any are. */
  take(id: string | null): Suggestion | null {
    const suggestion = this.#suggestion;
    if (!suggestion || suggestion.id !== id) return null;
    this.#suggestion = null;
    return suggestion;
  }
}

export const suggestedText = new SuggestedText();

/** Put what is offered to what is written already; null: there is no room for it beside somebody's own words. */
export function mergeSuggestion({ text, isKept }: Pick<Suggestion, "text" | "isKept">, written: string, offered: string): string | null {
  const before = written.trim();
  if (!before || before === offered) return text;
  return isKept ? `${before}\n\n${text}` : null;
}
