// What somebody has begun to write: kept here at once, and by the server soon after.
//
// The copy here comes first, so that nothing is lost while the server cannot be reached.

export const WAIT_MS = 400;

/** Where drafts are kept, and the clock; a page gives its own, and so does a test. */
export interface DraftStorage {
  read: () => string | null;
  /** Keep it here; answers whether there was room for it. */
  write: (text: string | null) => boolean;
  /** Keep it on the server, also if the page is being left; nothing at all forgets it. */
  put: (text: string, isLeaving: boolean) => Promise<void>;
  /** Do something after a while; the answer calls it off. */
  later: (what: () => void, ms: number) => () => void;
  /** Say that it is kept nowhere. */
  warn: () => void;
}

interface Kept {
  text: string;
  /** Whether the server knows it. */
  isPut: boolean;
}

const NOTHING: Kept = { text: "", isPut: true };

export class Draft {
  #kept: Kept;
  /** Whether there was room for it here. */
  #isStoredLocally = true;
  #isWarned = false;
  #cancel: (() => void) | null = null;
  #upload: Promise<void> | null = null;

  constructor(readonly storage: DraftStorage) {
    this.#kept = read(storage.read());
  }

  get text(): string {
    return this.#kept.text;
  }

  /** Take what the server has kept, unless something is here already; answers what counts. */
  restore(text: string): string {
    if (!this.#kept.text && this.#kept.isPut) this.#keep({ text, isPut: true });
    return this.#kept.text;
  }

  /** Keep what the field says now. */
  change(text: string): void {
    if (text === this.#kept.text) return;
    this.#keep({ text, isPut: false });
    this.#cancel?.();
    this.#cancel = this.storage.later(() => void this.flush(), WAIT_MS);
  }

  /** Tell the server now what it does not know. What cannot be told is told the next time. */
  async flush(isLeaving = false): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    if (isLeaving) return await this.#flushOnLeave();
    // One after the other, so that an older text never comes last.
    this.#upload ??= this.#save().finally(() => (this.#upload = null));
    await this.#upload;
  }

  /** What is under way ends with the page; this does not. */
  async #flushOnLeave(): Promise<void> {
    if (!this.#kept.isPut) await this.storage.put(this.#kept.text, true).catch(() => undefined);
  }

  async #save(): Promise<void> {
    while (!this.#kept.isPut) {
      const { text } = this.#kept;
      try {
        await this.storage.put(text, false);
      } catch {
        // If it is kept here it is told again with the next change or connection.
        if (!this.#isStoredLocally && !this.#isWarned) this.storage.warn();
        this.#isWarned ||= !this.#isStoredLocally;
        return;
      }
      if (this.#kept.text === text) this.#keep({ text, isPut: true });
    }
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    this.#isStoredLocally = this.storage.write(!kept.text && kept.isPut ? null : JSON.stringify(kept));
  }
}

function read(text: string | null): Kept {
  try {
    const kept: unknown = JSON.parse(text ?? "null");
    return isKept(kept) ? { text: kept.text, isPut: kept.isPut } : NOTHING;
  } catch {
    return NOTHING;
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { text, isPut } = value as Record<string, unknown>;
  return typeof text === "string" && typeof isPut === "boolean";
}
