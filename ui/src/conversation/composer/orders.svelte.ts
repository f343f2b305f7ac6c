// Commands in the conversation that is open: which there are, and what came of the last one.

import { once } from "../../api/once.ts";
import type { CommandAnswer } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { addressOf, place } from "../../state/place.svelte.ts";
import type { Command } from "./commands.ts";
import { offers } from "./offers.svelte.ts";

class Orders {
  known = $state.raw<readonly Command[]>([]);
  #reading: Promise<void> | null = null;

  /** Read which commands there are, once; without them a slash is only a slash. */
  async read(): Promise<void> {
    await this.need().catch(() => undefined);
  }

  /** Do not go on without them; what fails is asked for again the next time. */
  async need(): Promise<void> {
    this.#reading ??= this.#read();
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      this.known = (await hub.client.call("list_commands")).data.items;
    } catch (error) {
      this.#reading = null;
      throw error;
    }
  }

  /** Carry out a line in a session; answers what is to be shown, and null if it failed. */
  async give(id: string, line: string): Promise<CommandAnswer | null> {
    let answer: CommandAnswer | null = null;
    await notices.attempt(async () => {
      const header = once();
      answer = (await hub.client.call("give_command", { path: { id }, header, body: { line } })).data;
    });
    if (answer) follow(id, answer);
    return answer;
  }
}

/** Go where a command led to, and offer the words that it took back. */
function follow(id: string, { session_id, offer }: CommandAnswer): void {
  if (offer) offers.give(session_id ?? id, offer);
  if (session_id === null) place.go("/?new");
  else if (session_id !== id) place.go(addressOf(session_id));
}

export const orders = new Orders();
