// A function that runs at once, but not again before a pause is over.

export class Throttle {
  readonly #act: () => unknown;
  readonly #pause: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isPending = false;

  constructor(act: () => unknown, pause: number) {
    [this.#act, this.#pause] = [act, pause];
  }

  /** Do it now, or once more when the pause is over, however often it is wished for meanwhile. */
  run(): void {
    if (this.#timer !== null) {
      this.#isPending = true;
      return;
    }
    this.#timer = setTimeout(() => this.#end(), this.#pause);
    this.#act();
  }

  /** Do nothing more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    [this.#timer, this.#isPending] = [null, false];
  }

  #end(): void {
    const isPending = this.#isPending;
    [this.#timer, this.#isPending] = [null, false];
    if (isPending) this.run();
  }
}
