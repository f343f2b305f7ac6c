// With what the next conversation begins, beside its first words.

import type { ModelView, ModelWish, NewSession } from "../../api/schema.ts";
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
  /** Null: the one that the settings name. */
  model = $state<string | null>(null);

  /** Tell it, once: the conversation after the next begins as usual. */
  take(): Pick<NewSession, "model" | "project"> {
    const { model } = this;
    const project = Number(place.query.get("project"));
    this.model = null;
    return { ...(model ? { model: wishOf(model) } : {}), ...(project ? { project } : {}) };
  }
}

export const beginning = new Beginning();
