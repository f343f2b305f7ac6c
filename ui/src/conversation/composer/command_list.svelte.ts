// The slash commands of the server, and how one is run.

import { createKeyHeader } from "../../api/idempotency.ts";
import type { CommandReplyView } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { getSessionUrl, router } from "../../state/router.svelte.ts";
import type { Command } from "./commands.ts";
import { suggestedText } from "./suggested_text.svelte.ts";

class CommandList {
  known = $state.raw<readonly Command[]>([]);
  #api: Promise<void> | null = null;

  /** Read which commands there are, once; without them a slash is only a slash. */
  async load(): Promise<void> {
    await this.ensureLoaded().catch(() => undefined);
  }

  /** Do not go on without them; what fails is asked for again the next time. */
  async ensureLoaded(): Promise<void> {
    this.#api ??= this.#fetch();
    await this.#api;
  }

  async #fetch(): Promise<void> {
    try {
      this.known = (await app.client.call("list_commands")).data.items;
    } catch (error) {
      this.#api = null;
      throw error;
    }
  }

  /** Carry out a line in a session; answers what is to be shown, and null if it failed. */
  async run(id: string, line: string): Promise<CommandReplyView | null> {
    let answer: CommandReplyView | null = null;
    await notices.attempt(async () => {
      const header = createKeyHeader();
      answer = (await app.client.call("give_command", { path: { id }, header, body: { line } })).data;
    });
    if (answer) openResult(id, answer);
    return answer;
  }
}

/** Go where a command led to, and offer the words that it took back. */
function openResult(id: string, { session_id, offer }: CommandReplyView): void {
  if (offer) suggestedText.suggest(session_id ?? id, offer);
  if (session_id === null) router.navigate("/?new");
  else if (session_id !== id) router.navigate(getSessionUrl(session_id));
}

export const commandList = new CommandList();
