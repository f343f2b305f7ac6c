// Somebody who reads a transcript, which may not be there yet: what of it is loaded, and how they move about in it.

import type { CutView } from "../api/schema.ts";
import { notices } from "../state/notices.svelte.ts";
import { isRefused } from "./outbox.svelte.ts";
import type { Aim, Passage } from "./passage.svelte.ts";

export abstract class Reader {
  protected passage = $state.raw<Passage | null>(null);
  /** Where they want to be; they may not have got there yet. */
  protected wanted: number | null = null;

  readonly lines = $derived(this.passage?.lines ?? []);

  get hasEarlier(): boolean {
    return this.passage?.hasEarlier ?? false;
  }

  get hasLater(): boolean {
    return this.passage?.hasLater ?? false;
  }

  get lastSeq(): number {
    return this.passage?.lastSeq ?? 0;
  }

  get cuts(): readonly CutView[] {
    return this.passage?.cuts ?? [];
  }

  /** Null: nothing is loaded yet. */
  get aim(): Aim | null {
    return this.passage?.aim ?? null;
  }

  /** The stretch that a summary stands for. */
  get compaction(): CutView | null {
    return this.passage?.compaction ?? null;
  }

  get isCutOpen(): boolean {
    return this.passage?.isCutOpen ?? false;
  }

  get isHiddenShown(): boolean {
    return this.passage?.isHiddenShown ?? false;
  }

  /** Show what was undone or retried, or hide it again. */
  set isHiddenShown(isShown: boolean) {
    if (!this.passage) return;
    this.passage.isHiddenShown = isShown;
    void this.readAnew();
  }

  earlier = (): Promise<void> => this.#try((passage) => passage.earlier());
  later = (): Promise<void> => this.#try((passage) => passage.later());
  begin = (): Promise<void> => this.#go((passage) => passage.begin());
  end = (): Promise<void> => this.#go((passage) => passage.end());
  jump = (seq: number): Promise<void> => this.#go((passage) => passage.jump((this.wanted = seq)));
  /** Unfold what was compacted, or fold it again. */
  unfold = (isOpen: boolean): Promise<void> => this.#go((passage) => passage.unfold(isOpen));

  /** Read in place all that is loaded. */
  protected abstract readAnew(): Promise<void>;

  /** Be at the end, if it can be reached. */
  protected follow(): Promise<void> {
    return this.#try((passage) => passage.end());
  }

  /** Go where somebody asked to be; if that fails they are told. */
  async #go(move: (passage: Passage) => Promise<void>): Promise<void> {
    const { passage } = this;
    if (passage) await notices.attempt(() => move(passage));
  }

  /** Go where nobody asked to be: whoever scrolls on tries again. */
  async #try(move: (passage: Passage) => Promise<void>): Promise<void> {
    const { passage } = this;
    if (passage) await move(passage).catch(fail);
  }
}

/** What cannot be reached is read once the connection is back; what is gone needs no notice. */
export function fail(error: unknown): boolean {
  if (!isRefused(error)) return true;
  if (error.status !== 404) notices.fail(error);
  return false;
}
