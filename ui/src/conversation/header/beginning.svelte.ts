// With what the next conversation begins, beside its first words.

import type { ModelView, ModelWish, NewSession } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { place } from "../../state/place.svelte.ts";

/** Call a chosen model as lists do: `openai:gpt-5`. */
export function nameOfModel({ provider, model }: ModelView): string {
  return provider ? `${provider}:${model}` : model;
}

/** Make of such a name what the server takes. */
export function wishOf(name: string): ModelWish {
  const [provider = "", ...rest] = name.split(":");
  return rest.length > 0 ? { model: rest.join(":"), provider } : { model: name };
}

class Beginning {
  /** A profile has settings of its own: what was chosen in one is not meant for another. */
  #chosen = $state.raw<{ profile: string; model: string } | null>(null);

  /** Null: the one that the settings name. */
  get model(): string | null {
    return this.#chosen?.profile === hub.profile ? this.#chosen.model : null;
  }

  set model(model: string | null) {
    this.#chosen = model === null ? null : { profile: hub.profile, model };
  }

  /** Tell it, once: the conversation after the next begins as usual. */
  take(): Pick<NewSession, "model" | "project"> {
    const { model } = this;
    const project = Number(place.query.get("project"));
    this.model = null;
    return { ...(model ? { model: wishOf(model) } : {}), ...(project ? { project } : {}) };
  }
}

export const beginning = new Beginning();
