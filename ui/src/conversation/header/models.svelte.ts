// The models that can be chosen: read when somebody first wants to know, and anew when the settings change.

import type { KnownModelView } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import { isRejected } from "../../state/errors.ts";
import { RequestQueue } from "../../state/request_queue.ts";

class Models {
  all = $state.raw<readonly KnownModelView[]>([]);
  readonly #requests = new RequestQueue((error) => !isRejected(error));
  /** For which they were wanted. */
  #profile: string | null = null;

  constructor() {
    app.subscribe({
      onReload: () => this.#readAnew(),
      onEvent: ({ kind }) => kind === "settings.changed" && this.#readAnew(),
      onReconnect: () => this.#requests.retryFailed(),
    });
  }

  /** Read them, unless they are known. */
  read(): void {
    if (this.#profile === app.profile) return;
    this.#profile = app.profile;
    this.#readAnew();
  }

  /** What nobody wanted to know yet is not read. */
  #readAnew(): void {
    if (this.#profile === null) return;
    void this.#requests.run("models", async () => {
      const query = { profile: app.profile };
      this.all = (await app.client.call("list_models", { query })).data.items;
    });
  }
}

export const models = new Models();
