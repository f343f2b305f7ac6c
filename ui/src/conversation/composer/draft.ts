// What somebody has begun to write: kept here at once, and by the server soon after.
//
// The copy here comes first, so that nothing is lost while the server cannot be reached. What was
// sent and has not arrived yet stays in it, in case the page is closed before it does.

export const WAIT_MS = 400;

/** Where drafts are kept, and the clock; a page gives its own, and so does a test. */
export interface Desk {
  read: () => string | null;
  write: (text: string | null) => void;
  /** Keep it on the server; nothing at all forgets it. */
  put: (text: string) => Promise<void>;
  /** Do something after a while; the answer calls it off. */
  later: (what: () => void, ms: number) => () => void;
}

interface Kept {
  text: string;
  /** What was sent and has not arrived yet. */
  sending: readonly string[];
  /** Whether the server knows it. */
  isPut: boolean;
}

const NOTHING: Kept = { text: "", sending: [], isPut: true };

export class Draft {
  #kept: Kept;
  #callOff: (() => void) | null = null;
  #putting: Promise<void> | null = null;

  constructor(readonly desk: Desk) {
    const kept = read(desk.read());
    const text = [...kept.sending, kept.text].filter(Boolean).join("\n\n");
    this.#kept = { text, sending: [], isPut: kept.isPut && text === kept.text };
  }

  get text(): string {
    return this.#kept.text;
  }

  get isPut(): boolean {
    return this.#kept.isPut;
  }

  /** Take what the server has kept, unless something is here already; answers what counts. */
  restore(text: string): string {
    if (!this.#kept.text && this.#kept.isPut) this.#keep({ ...NOTHING, text });
    return this.#kept.text;
  }

  /** Keep what the field says now. */
  change(text: string): void {
    if (text === this.#kept.text) return;
    this.#keep({ ...this.#kept, text, isPut: false });
    this.#callOff?.();
    this.#callOff = this.desk.later(() => void this.flush(), WAIT_MS);
  }

  /** Remember what is on its way: of this page alone, so the server need not know. */
  hold(sending: readonly string[]): void {
    if (String(sending) !== String(this.#kept.sending)) this.#keep({ ...this.#kept, sending });
  }

  /** Tell the server now. What cannot be told is told the next time. */
  async flush(): Promise<void> {
    this.#callOff?.();
    this.#callOff = null;
    // One after the other, so that an older text never comes last.
    this.#putting ??= this.#put().finally(() => (this.#putting = null));
    await this.#putting;
  }

  async #put(): Promise<void> {
    while (!this.#kept.isPut) {
      const { text } = this.#kept;
      try {
        await this.desk.put(text);
      } catch {
        return; // It is still kept here, and told again with the next change or connection.
      }
      if (this.#kept.text === text) this.#keep({ ...this.#kept, isPut: true });
    }
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    const isNothing = !kept.text && kept.sending.length === 0 && kept.isPut;
    this.desk.write(isNothing ? null : JSON.stringify(kept));
  }
}

function read(text: string | null): Kept {
  try {
    const kept: unknown = JSON.parse(text ?? "null");
    return isKept(kept) ? kept : NOTHING;
  } catch {
    return NOTHING;
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { text, sending, isPut } = value as Record<string, unknown>;
  return typeof text === "string" && Array.isArray(sending) && typeof isPut === "boolean";
}
