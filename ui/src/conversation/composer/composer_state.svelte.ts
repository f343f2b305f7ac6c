// The state of the composer of one conversation: text, files and recipient.

import type { BusyMode, Speech } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { strings } from "../../strings/index.ts";
import type { OutgoingMessage } from "../outbox.svelte.ts";
import { Draft } from "./draft.ts";
import {
  fetchDraft,
  openDraftStorage,
  openUploadStorage,
  takeExpiredMessages,
  takeExpiredUploads,
} from "./local_drafts.ts";
import { openUploads, type Uploads } from "./uploads.svelte.ts";

export class ComposerState {
  text = $state("");
  /** Null: as the conversation usually has it. */
  speech = $state<Speech | null>(null);
  busyMode = $state<BusyMode | null>(null);
  readonly uploads: Uploads;
  #draft: Draft;

  constructor(id: string | null) {
    this.#draft = new Draft(openDraftStorage(id));
    this.text = this.#draft.text;
    this.uploads = openUploads(openUploadStorage(id));
    for (const old of takeExpiredMessages(id)) this.#put(old);
    const gone = takeExpiredUploads(id);
    if (gone.length > 0) notices.show(strings.composer.filesGone(gone.join(", ")));
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
  restore({ text, tickets, files = [] }: OutgoingMessage): void {
    this.#put(text);
    this.uploads.restore(tickets, files);
  }

  /** The first words have made a conversation: what was written since is written there. */
  move(id: string): void {
    const { text } = this;
    this.change("");
    void this.flush();
    this.#draft = new Draft(openDraftStorage(id));
    this.change(text);
    this.uploads.move(openUploadStorage(id));
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
    if (this.text || app.connectionState === "offline") return;
    const kept = await fetchDraft(id).catch(() => "");
    // Whoever began to write meanwhile goes on with that, wherever it is.
    if (!this.text && draft === this.#draft) this.text = draft.restore(kept);
  }
}
