// A form that creates or updates something: the loaded version, conflicts and errors.

import { type ApiResponse, Problem } from "../api/client.ts";
import { app } from "../state/app.svelte.ts";

const STALE = 412;

export class EditForm<Data> {
  /** As the server has it; null: it was not seen yet. */
  seen = $state.raw<Data | null>(null);
  /** Why it could not be seen, or not be saved. */
  error = $state.raw<unknown>(null);
  /** Somebody else was quicker; what they made of it was seen since. */
  isStale = $state(false);
  isBusy = $state(false);
  readonly #look: (() => Promise<ApiResponse<Data>>) | null;
  readonly #fill: (data: Data) => void;
  #etag: string | null = null;

  /** Without a `look` it is something new; what is seen first is filled into the form. */
  constructor(look: (() => Promise<ApiResponse<Data>>) | null, fill: (data: Data) => void) {
    [this.#look, this.#fill] = [look, fill];
  }

  /** Whether there is something to write into: nobody changes what they have not seen. */
  get isReady(): boolean {
    return this.#look === null || this.seen !== null;
  }

  /** See how it is now, and if that fails, once the connection is back; until the answer is called. */
  start(): () => void {
    void this.read();
    return app.subscribe({ onReconnect: () => !this.isReady && void this.read() });
  }

  /** See how it is now; what was written since it was first seen stays. */
  async read(): Promise<void> {
    if (!this.#look) return;
    this.error = null;
    try {
      const { data, etag } = await this.#look();
      if (this.seen === null) this.#fill(data);
      [this.seen, this.#etag] = [data, etag];
    } catch (error) {
      this.error = error;
    }
  }

  /** Save it, if it still is what was seen; tells whether it was. A new one has no tag. */
  async save(put: (etag: string | null) => Promise<unknown>): Promise<boolean> {
    if (!this.isReady || this.isBusy) return false;
    [this.isBusy, this.error, this.isStale] = [true, null, false];
    try {
      await put(this.#etag);
      return true;
    } catch (error) {
      this.isStale = error instanceof Problem && error.status === STALE;
      if (this.isStale) await this.read();
      else this.error = error;
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
