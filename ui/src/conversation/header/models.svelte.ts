// The models that can be chosen: read when somebody first wants to know, and anew when the settings change.

import type { ModelShape } from "../../api/schema.ts";
import { Errands } from "../../state/errands.ts";
import { hub } from "../../state/hub.svelte.ts";
import { isRefused } from "../outbox.svelte.ts";

class Models {
  all = $state.raw<readonly ModelShape[]>([]);
  readonly #errands = new Errands((error) => !isRefused(error));
  /** For which they were wanted. */
  #profile: string | null = null;

  constructor() {
    hub.hear({
      onReload: () => this.#readAnew(),
      onEvent: ({ kind }) => kind === "settings.changed" && this.#readAnew(),
      onBack: () => this.#errands.again(),
    });
  }

  /** Read them, unless they are known. */
  read(): void {
    if (this.#profile === hub.profile) return;
    this.#profile = hub.profile;
    this.#readAnew();
  }

  /** What nobody wanted to know yet is not read. */
  #readAnew(): void {
    if (this.#profile === null) return;
    void this.#errands.want("models", async () => {
      const query = { profile: hub.profile };
      this.all = (await hub.client.call("list_models", { query })).data.items;
    });
  }
}

export const models = new Models();
