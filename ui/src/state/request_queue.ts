// Requests by name: several of one name become one, no two of one name run at once, and failed ones are retried.

export type RequestTask = () => Promise<void>;

/** After so long it is tried again; after each failure twice as long, but not longer than the last. */
const FIRST_MS = 1000;
const LAST_MS = 30_000;

interface FailedRequest {
  request: RequestTask;
  timer: ReturnType<typeof setTimeout>;
}

export class RequestQueue {
  readonly #pending = new Map<string, RequestTask>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, FailedRequest>();
  /** How often in a row something of a name has failed. */
  readonly #failures = new Map<string, number>();
  readonly #onError: (error: unknown) => boolean;
  #isClosed = false;

  /** `onError` is told what went wrong, and says whether it may go well some other time. */
  constructor(onError: (error: unknown) => boolean) {
    this.#onError = onError;
  }

  /** Run a request soon; if one of its name is running, once more after it. Resolves when it is done. */
  async run(name: string, request: RequestTask): Promise<void> {
    this.#pending.set(name, request);
    // Calls of the same tick are one request.
    await Promise.resolve();
    while (this.#pending.has(name) && !this.#isClosed) {
      const running = this.#running.get(name);
      if (running) await running;
      else await this.#start(name);
    }
    await this.#running.get(name);
  }

  /** Run again now what may go well some other time. */
  retryFailed(): void {
    for (const name of [...this.#failed.keys()]) this.#retry(name);
  }

  /** Run nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#pending.clear();
    for (const { timer } of this.#failed.values()) clearTimeout(timer);
    this.#failed.clear();
  }

  async #start(name: string): Promise<void> {
    const request = this.#pending.get(name);
    this.#pending.delete(name);
    if (!request) return;
    this.#takeFailed(name);
    const done = request()
      .then(
        () => void this.#failures.delete(name),
        (error: unknown) => this.#fail(name, request, error),
      )
      .finally(() => this.#running.delete(name));
    this.#running.set(name, done);
    await done;
  }

  #fail(name: string, request: RequestTask, error: unknown): void {
    if (this.#isClosed) return;
    const failures = this.#failures.get(name) ?? 0;
    this.#failures.set(name, failures + 1);
    if (!this.#onError(error)) return;
    const pause = Math.min(FIRST_MS * 2 ** failures, LAST_MS);
    this.#failed.set(name, { request, timer: setTimeout(() => this.#retry(name), pause) });
  }

  #retry(name: string): void {
    const failed = this.#takeFailed(name);
    if (failed && !this.#pending.has(name)) void this.run(name, failed.request);
  }

  /** What is run anyway need not be tried again. */
  #takeFailed(name: string): FailedRequest | undefined {
    const failed = this.#failed.get(name);
    clearTimeout(failed?.timer);
    this.#failed.delete(name);
    return failed;
  }
}
