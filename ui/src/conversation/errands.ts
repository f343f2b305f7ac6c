// Reads that events ask for: many quick wishes become one read, and no thing is read twice at once.

export type Errand = () => Promise<void>;

export class Errands {
  readonly #wanted = new Map<string, Errand>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #lost = new Map<string, Errand>();
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

  /** Run again what may go well now. */
  again(): void {
    const lost = [...this.#lost];
    this.#lost.clear();
    for (const [name, errand] of lost) void this.want(name, errand);
  }

  /** Run nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#wanted.clear();
  }

  async #run(name: string): Promise<void> {
    const errand = this.#wanted.get(name);
    this.#wanted.delete(name);
    if (!errand) return;
    const done = errand()
      .catch((error: unknown) => {
        if (!this.#isClosed && this.#fail(error)) this.#lost.set(name, errand);
      })
      .finally(() => this.#running.delete(name));
    this.#running.set(name, done);
    await done;
  }
}
