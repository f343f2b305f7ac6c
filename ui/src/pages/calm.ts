// Something that is done at once when it is wished for, but not again before a pause is over.

export class Calm {
  readonly #act: () => unknown;
  readonly #pause: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isWished = false;

  constructor(act: () => unknown, pause: number) {
    [this.#act, this.#pause] = [act, pause];
  }

  /** Do it now, or once more when the pause is over, however often it is wished for meanwhile. */
  wish(): void {
    if (this.#timer !== null) {
      this.#isWished = true;
      return;
    }
    this.#timer = setTimeout(() => this.#end(), this.#pause);
    this.#act();
  }

  /** Do nothing more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    [this.#timer, this.#isWished] = [null, false];
  }

  #end(): void {
    const isWished = this.#isWished;
    [this.#timer, this.#isWished] = [null, false];
    if (isWished) this.wish();
  }
}
