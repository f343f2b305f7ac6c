// The models that can be chosen: read when somebody first wants to know, and anew when the settings change.

import type { ModelShape } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";

class Models {
  all = $state.raw<readonly ModelShape[]>([]);
  #profile: string | null = null;

  constructor() {
    const forget = (): void => void (this.#profile = null);
    hub.hear({ onReload: forget, onEvent: ({ kind }) => kind === "settings.changed" && forget() });
  }

  /** Read them, unless they are known; what fails is asked for again the next time. */
  async read(): Promise<void> {
    const { profile } = hub;
    if (this.#profile === profile) return;
    this.#profile = profile;
    try {
      this.all = (await hub.client.call("list_models", { query: { profile } })).data.items;
    } catch {
      this.#profile = null;
    }
  }
}

export const models = new Models();
