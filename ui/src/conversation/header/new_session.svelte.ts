// Model and project of the next session.

import type { ModelView, ModelRequest, SessionRequest } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import { router } from "../../state/router.svelte.ts";

/** Call a chosen model as lists do: `openai:gpt-5`. */
export function getModelName({ provider, model }: ModelView): string {
  return provider ? `${provider}:${model}` : model;
}

/** Make of such a name what the server takes. */
export function parseModelName(name: string): ModelRequest {
  const [provider = "", ...rest] = name.split(":");
  return rest.length > 0 ? { model: rest.join(":"), provider } : { model: name };
}

class NewSessionOptions {
  /** A profile has settings of its own: what was chosen in one is not meant for another. */
  #chosen = $state.raw<{ profile: string; model: string } | null>(null);

  /** Null: the one that the settings name. */
  get model(): string | null {
    return this.#chosen?.profile === app.profile ? this.#chosen.model : null;
  }

  set model(model: string | null) {
    this.#chosen = model === null ? null : { profile: app.profile, model };
  }

  /** Tell it, once: the conversation after the next begins as usual. */
  take(): Pick<SessionRequest, "model" | "project"> {
    const { model } = this;
    const project = Number(router.query.get("project"));
    this.model = null;
    return { ...(model ? { model: parseModelName(model) } : {}), ...(project ? { project } : {}) };
  }
}

export const newSession = new NewSessionOptions();
