// What is being written in one conversation: the words, the files, and for whom they are.

import type { BusyMode, Speech } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { words } from "../../words/index.ts";
import type { Said } from "../outbox.svelte.ts";
import { deskOf, folderOf, keptFor, takeOld, takeOldFiles } from "./desk.ts";
import { Draft } from "./draft.ts";
import { uploadsAt, type Uploads } from "./uploads.svelte.ts";

export class Writing {
  text = $state("");
  /** Null: as the conversation usually has it. */
  speech = $state<Speech | null>(null);
  busyMode = $state<BusyMode | null>(null);
  readonly uploads: Uploads;
  #draft: Draft;

  constructor(id: string | null) {
    this.#draft = new Draft(deskOf(id));
    this.text = this.#draft.text;
    this.uploads = uploadsAt(folderOf(id));
    for (const old of takeOld(id)) this.#put(old);
    const gone = takeOldFiles(id);
    if (gone.length > 0) notices.tell(words.composer.filesGone(gone.join(", ")));
    void this.#restore(id);
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
    // At once: the list of conversations shows who has a draft.
    void this.flush();
    this.uploads.clear();
    return taken;
  }

  /** Take back what was not sent, ahead of what was written since. */
  takeBack({ text, tickets, files = [] }: Said): void {
    this.#put(text);
    this.uploads.takeBack(tickets, files);
  }

  /** The first words have made a conversation: what was written since is written there. */
  move(id: string): void {
    const { text } = this;
    this.change("");
    void this.flush();
    this.#draft = new Draft(deskOf(id));
    this.change(text);
    this.uploads.move(folderOf(id));
  }

  /** Tell the server what it does not know yet. */
  async flush(isLeaving = false): Promise<void> {
    await this.#draft.flush(isLeaving);
  }

  close(): void {
    void this.flush();
    this.uploads.close();
  }

  #put(text: string): void {
    this.change([text, this.text].filter(Boolean).join("\n\n"));
  }

  async #restore(id: string | null): Promise<void> {
    const draft = this.#draft;
    if (this.text || hub.reach === "away") return;
    const kept = await keptFor(id).catch(() => "");
    // Whoever began to write meanwhile goes on with that, wherever it is.
    if (!this.text && draft === this.#draft) this.text = draft.restore(kept);
  }
}
