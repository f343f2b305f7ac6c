// What is being written in one conversation: the words, the files, and for whom they are.

import type { BusyMode, Speech } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { deskOf, keptFor } from "./desk.ts";
import { Draft } from "./draft.ts";
import { Uploads } from "./uploads.svelte.ts";

export class Writing {
  text = $state("");
  /** Null: as the conversation usually has it. */
  speech = $state<Speech | null>(null);
  busyMode = $state<BusyMode | null>(null);
  readonly uploads = new Uploads();
  readonly #draft: Draft;

  constructor(readonly id: string | null) {
    this.#draft = new Draft(deskOf(id));
    this.text = this.#draft.text;
    void this.#restore();
  }

  get isEmpty(): boolean {
    return !this.text.trim() && this.uploads.isEmpty;
  }

  change(text: string): void {
    this.text = text;
    this.#draft.change(text);
  }

  /** Take the words out of the field, with the tickets of what goes along. */
  take(): { text: string; tickets: readonly string[]; files: readonly string[] } {
    const taken = { text: this.text.trim(), tickets: this.uploads.tickets, files: this.uploads.names };
    this.change("");
    this.uploads.clear();
    return taken;
  }

  /** Keep what is on its way, in case this page is closed before it arrives. */
  hold(sending: readonly string[]): void {
    this.#draft.hold(sending);
  }

  /** Tell the server what it does not know yet. */
  async flush(): Promise<void> {
    if (!this.#draft.isPut) await this.#draft.flush();
  }

  close(): void {
    void this.flush();
    this.uploads.close();
  }

  async #restore(): Promise<void> {
    if (this.text || hub.reach === "away") return;
    const kept = await keptFor(this.id).catch(() => "");
    // Whoever began to write meanwhile goes on with that.
    if (!this.text) this.text = this.#draft.restore(kept);
  }
}
