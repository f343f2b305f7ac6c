// Reads that events ask for: many quick wishes become one read, no thing is read twice at once, and what could not
// be read for want of a server is tried again by itself.

export type Errand = () => Promise<void>;

/** After so long it is tried again; after each failure twice as long, but not longer than the last. */
const FIRST_MS = 1000;
const LAST_MS = 30_000;

interface Lost {
  errand: Errand;
  timer: ReturnType<typeof setTimeout>;
}

export class Errands {
  readonly #wanted = new Map<string, Errand>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #lost = new Map<string, Lost>();
  /** How often in a row something of a name has failed. */
  readonly #failures = new Map<string, number>();
  readonly #fail: (error: unknown) => boolean;
  #isClosed = false;

  /** `fail` is told what went wrong, and says whether it may go well some other time. */
  constructor(fail: (error: unknown) => boolean) {
    this.#fail = fail;
  }

  /** Run an errand soon; if one of its name is under way, once more after it. Answers when it is done. */
  async want(name: string, errand: Errand): Promise<void> {
    this.#wanted.set(name, errand);
    // What is wished for in the same breath is one wish.
    await Promise.resolve();
    while (this.#wanted.has(name) && !this.#isClosed) {
      const running = this.#running.get(name);
      if (running) await running;
      else await this.#run(name);
    }
    await this.#running.get(name);
  }

  /** Run again now what may go well some other time. */
  again(): void {
    for (const name of [...this.#lost.keys()]) this.#retry(name);
  }

  /** Run nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#wanted.clear();
    for (const { timer } of this.#lost.values()) clearTimeout(timer);
    this.#lost.clear();
  }

  async #run(name: string): Promise<void> {
    const errand = this.#wanted.get(name);
    this.#wanted.delete(name);
    if (!errand) return;
    this.#forget(name);
    const done = errand()
      .then(
        () => void this.#failures.delete(name),
        (error: unknown) => this.#lose(name, errand, error),
      )
      .finally(() => this.#running.delete(name));
    this.#running.set(name, done);
    await done;
  }

  #lose(name: string, errand: Errand, error: unknown): void {
    if (this.#isClosed) return;
    const failures = this.#failures.get(name) ?? 0;
    this.#failures.set(name, failures + 1);
    if (!this.#fail(error)) return;
    const pause = Math.min(FIRST_MS * 2 ** failures, LAST_MS);
    this.#lost.set(name, { errand, timer: setTimeout(() => this.#retry(name), pause) });
  }

  #retry(name: string): void {
    const lost = this.#forget(name);
    if (lost && !this.#wanted.has(name)) void this.want(name, lost.errand);
  }

  /** What is run anyway need not be tried again. */
  #forget(name: string): Lost | undefined {
    const lost = this.#lost.get(name);
    clearTimeout(lost?.timer);
    this.#lost.delete(name);
    return lost;
  }
}
