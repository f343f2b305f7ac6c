// Navigation in a transcript, which may not be loaded yet.

import type { HiddenRangeView } from "../../api/schema.ts";
import { isRejected } from "../../state/errors.ts";
import { notices } from "../../state/notices.svelte.ts";
import type { MessagePager, ScrollTarget } from "./message_pager.svelte.ts";

export abstract class TranscriptNavigation {
  protected pager = $state.raw<MessagePager | null>(null);
  /** Where they want to be; they may not have got there yet. */
  protected targetSeq: number | null = null;

  readonly lines = $derived(this.pager?.lines ?? []);

  get hasEarlier(): boolean {
    return this.pager?.hasEarlier ?? false;
  }

  get hasLater(): boolean {
    return this.pager?.hasLater ?? false;
  }

  get lastSeq(): number {
    return this.pager?.lastSeq ?? 0;
  }

  get cuts(): readonly HiddenRangeView[] {
    return this.pager?.cuts ?? [];
  }

  /** Null: nothing is loaded yet. */
  get scrollTarget(): ScrollTarget | null {
    return this.pager?.scrollTarget ?? null;
  }

  /** The stretch that a summary stands for. */
  get compaction(): HiddenRangeView | null {
    return this.pager?.compaction ?? null;
  }

  get isCutOpen(): boolean {
    return this.pager?.isCutOpen ?? false;
  }

  get isHiddenShown(): boolean {
    return this.pager?.isHiddenShown ?? false;
  }

  /** Show what was undone or retried, or hide it again. */
  set isHiddenShown(isShown: boolean) {
    if (!this.pager) return;
    this.pager.isHiddenShown = isShown;
    void this.reload();
  }

  loadEarlier = (): Promise<void> => this.#navigateQuietly((pager) => pager.loadEarlier());
  loadLater = (): Promise<void> => this.#navigateQuietly((pager) => pager.loadLater());
  goToStart = (): Promise<void> => this.#navigate((pager) => pager.goToStart());
  goToEnd = (): Promise<void> => this.#navigate((pager) => pager.goToEnd());
  jumpTo = (seq: number): Promise<void> => this.#navigate((pager) => pager.jumpTo((this.targetSeq = seq)));
  /** Unfold what was compacted, or fold it again. */
  setUnfolded = (isOpen: boolean): Promise<void> => this.#navigate((pager) => pager.setUnfolded(isOpen));

  /** Read in place all that is loaded. */
  protected abstract reload(): Promise<void>;

  /** Be at the end, if it can be reached. */
  protected followEnd(): Promise<void> {
    return this.#navigateQuietly((pager) => pager.goToEnd());
  }

  /** Go where somebody asked to be; if that fails they are told. */
  async #navigate(move: (pager: MessagePager) => Promise<void>): Promise<void> {
    const { pager } = this;
    if (pager) await notices.attempt(() => move(pager));
  }

  /** Go where nobody asked to be: whoever scrolls on tries again. */
  async #navigateQuietly(move: (pager: MessagePager) => Promise<void>): Promise<void> {
    const { pager } = this;
    if (pager) await move(pager).catch(handleReadError);
  }
}

/** What cannot be reached is read once the connection is back; what is gone needs no notice. */
export function handleReadError(error: unknown): boolean {
  if (!isRejected(error)) return true;
  if (error.status !== 404) notices.showError(error);
  return false;
}
