// The loaded part of a transcript, and the moves of the reader in it.

import type { HiddenRangeView, MessageView } from "../../api/schema.ts";
import type { ConversationApi } from "../conversation_api.ts";
import {
  appendMessages,
  createRange,
  EMPTY_RANGE,
  foldRange,
  hasLaterMessages,
  type MessageRange,
  prependPage,
  replaceMessage,
  trimRange,
} from "./message_range.ts";
import { getSeq } from "./messages.ts";

export const MAX_LOADED = 600;
export const PAGE_SIZE = 60;

/** Where the reader is to be brought: to the end, to the beginning, or to a line, which is then marked. */
export type ScrollTarget = { at: "end" | "beginning" } | { at: "line"; seq: number };

/** A way to another place. */
interface Move {
  scrollTarget: ScrollTarget;
  read: () => Promise<MessageRange>;
}

export class MessagePager {
  cuts = $state.raw<readonly HiddenRangeView[]>([]);
  scrollTarget = $state.raw<ScrollTarget | null>(null);
  lastSeq = $state(0);
  /** What was compacted is unfolded. */
  isCutOpen = $state(false);
  isHiddenShown = $state(false);
  #range = $state.raw<MessageRange>(EMPTY_RANGE);

  readonly lines = $derived(this.#range.lines);
  readonly hasEarlier = $derived(this.#range.hasEarlier);
  readonly hasLater = $derived(this.#range.hasLater);
  /** The stretch that a summary stands for; the latest covers all before it. */
  readonly compaction = $derived(this.cuts.findLast((cut) => cut.kind === "compacted") ?? null);
  /** Up to this line everything is folded away. */
  readonly floor = $derived(this.isCutOpen ? 0 : (this.compaction?.to_seq ?? 0));

  readonly #api: ConversationApi;
  /** The line that is looked at: what is far from it goes first. */
  #visibleSeq = Number.POSITIVE_INFINITY;
  #moves = 0;
  /** Where the reader wants to go next, while the way there is being read, or an earlier one. */
  #nextMove: Move | null = null;
  #currentMove: Promise<void> | null = null;
  #isPaging = false;

  constructor(api: ConversationApi) {
    this.#api = api;
  }

  /** Read the end, or what is around a line; the beginning, if the reader went there meanwhile. */
  async open(seq: number | null): Promise<void> {
    const moves = this.#moves;
    this.cuts = await this.#api.listCuts();
    if (this.#moves !== moves && this.scrollTarget?.at === "beginning") await this.goToStart(true);
    else await (seq === null ? this.goToEnd(true) : this.jumpTo(seq));
  }

  /** Remember which line is before the reader's eyes. */
  setVisible(seq: number): void {
    this.#visibleSeq = seq;
  }

  /** Load what is before. */
  async loadEarlier(): Promise<void> {
    const first = getSeq(this.lines[0]);
    if (!this.hasEarlier || this.#isPaging) return;
    await this.#loadPage(async () => {
      const page = await this.#api.getPage({ before: first, most: PAGE_SIZE, hidden: this.isHiddenShown });
      // Somebody may have gone elsewhere meanwhile.
      if (getSeq(this.lines[0]) === first) this.#setRange(prependPage(this.#range, page, this.floor));
    });
  }

  /** Load what is after. */
  async loadLater(): Promise<void> {
    const last = getSeq(this.lines.at(-1));
    if (!this.hasLater || this.#isPaging) return;
    await this.#loadPage(async () => {
      const { items } = await this.#api.getPage({ after: last, most: PAGE_SIZE, hidden: this.isHiddenShown });
      if (getSeq(this.lines.at(-1)) !== last) return;
      this.#setRange(appendMessages(this.#range, items, items.length === PAGE_SIZE));
      await this.#loadMissed();
    });
  }

  /** Bring the reader to a line, wherever it is; what it is folded into opens. */
  async jumpTo(seq: number): Promise<void> {
    const scrollTarget: ScrollTarget = { at: "line", seq };
    if (this.lines.some((line) => line.seq === seq)) return this.#moveWithinLoaded(scrollTarget);
    await this.#move(scrollTarget, async () => {
      const page = await this.#api.getPage({ around: seq, most: PAGE_SIZE, hidden: this.isHiddenShown });
      return createRange(page, seq <= this.floor ? 0 : this.floor, hasLaterMessages(page, seq, PAGE_SIZE));
    });
  }

  /** Bring the reader to the beginning. */
  async goToStart(isRead = this.hasEarlier || this.#currentMove !== null): Promise<void> {
    const scrollTarget: ScrollTarget = { at: "beginning" };
    if (!isRead) return this.#moveWithinLoaded(scrollTarget);
    await this.#move(scrollTarget, async () => {
      const page = await this.#api.getPage({ after: this.floor, most: PAGE_SIZE, hidden: this.isHiddenShown });
      return { ...createRange(page, this.floor, page.items.length === PAGE_SIZE), hasEarlier: false };
    });
  }

  /** Bring the reader to the end. */
  async goToEnd(isRead = this.hasLater || this.#currentMove !== null): Promise<void> {
    const scrollTarget: ScrollTarget = { at: "end" };
    if (!isRead) return this.#moveWithinLoaded(scrollTarget);
    await this.#move(scrollTarget, async () => {
      const page = await this.#api.getPage({ most: PAGE_SIZE, hidden: this.isHiddenShown });
      return createRange(page, this.floor, false);
    });
  }

  /** Read the lines that were added at the end, if the end is loaded; answers them. */
  async loadNew(): Promise<readonly MessageView[]> {
    while (!this.hasLater) {
      const last = this.#getLastSeq();
      const { page, hasLater } = await this.#api.getRange(last + 1, null, this.isHiddenShown);
      // Somebody may have gone elsewhere and come back meanwhile.
      if (this.hasLater || this.#getLastSeq() !== last) continue;
      this.#setRange(appendMessages(this.#range, page.items, hasLater));
      return page.items;
    }
    return [];
  }

  async reloadMessage(seq: number): Promise<void> {
    if (!this.lines.some((line) => line.seq === seq)) return;
    const line = await this.#api.getMessage(seq);
    this.#range = replaceMessage(this.#range, line);
  }

  /** Read in place all that is loaded, because some of it went out of sight or came back. */
  async reload(): Promise<void> {
    for (;;) {
      const before = this.#range;
      const [first, last] = [getSeq(this.lines[0]), getSeq(this.lines.at(-1))];
      const cuts = await this.#api.listCuts();
      // What is folded away may be very long: it is not read only because something else has changed.
      const from = this.hasEarlier || this.floor > 0 ? first || this.floor + 1 : 1;
      const { page, hasLater } = await this.#api.getRange(from, this.hasLater ? last : null, this.isHiddenShown);
      // What is loaded may be something else by now.
      if (this.#range !== before) continue;
      const isFolded = this.floor > 0;
      this.cuts = cuts;
      const fresh = createRange(page, this.floor, hasLater);
      // Where nothing is folded any more, there is something before.
      const hasEarlier = this.floor === 0 && (isFolded || this.hasEarlier) && from > 1;
      return this.#setRange({ ...fresh, hasEarlier: hasEarlier || fresh.hasEarlier });
    }
  }

  /** Unfold what was compacted, or fold it again. */
  async setUnfolded(isOpen: boolean): Promise<void> {
    this.isCutOpen = isOpen;
    if (isOpen) {
      this.#range = { ...this.#range, hasEarlier: this.compaction !== null };
      await this.loadEarlier();
      // It grows upwards: without this nothing of it might be seen.
      if (this.compaction) this.scrollTarget = { at: "line", seq: this.compaction.to_seq };
    } else {
      this.#range = foldRange(this.#range, this.floor);
      if (this.lines.length === 0) await this.goToEnd(true);
    }
  }

  #setRange(range: MessageRange): void {
    this.#range = trimRange(range, this.#visibleSeq, MAX_LOADED);
    this.lastSeq = Math.max(this.lastSeq, getSeq(range.lines.at(-1)));
  }

  async #loadPage(read: () => Promise<void>): Promise<void> {
    this.#isPaging = true;
    try {
      await read();
    } finally {
      this.#isPaging = false;
    }
  }

  /** Read what was added on the way to the end: while that was not loaded, nobody else told of it. */
  async #loadMissed(): Promise<void> {
    if (!this.hasLater && this.#getLastSeq() < this.lastSeq) await this.loadNew();
  }

  /** Tell the last line that is loaded, or folded away where none is. */
  #getLastSeq(): number {
    return getSeq(this.lines.at(-1)) || this.floor;
  }

  /** Go to what is loaded: what was on its way elsewhere no longer counts. */
  #moveWithinLoaded(scrollTarget: ScrollTarget): void {
    this.#moves++;
    this.#nextMove = null;
    this.scrollTarget = scrollTarget;
  }

  /** Go elsewhere, one way after the other; of several quick moves only the last counts. */
  async #move(scrollTarget: ScrollTarget, read: () => Promise<MessageRange>): Promise<void> {
    const move = ++this.#moves;
    this.#nextMove = { scrollTarget, read };
    this.#currentMove ??= this.#runMoves();
    try {
      await this.#currentMove;
    } catch (error) {
      if (move === this.#moves) throw error;
    }
  }

  async #runMoves(): Promise<void> {
    try {
      while (this.#nextMove) await this.#runMove(this.#nextMove);
    } finally {
      this.#currentMove = null;
    }
  }

  async #runMove({ scrollTarget, read }: Move): Promise<void> {
    const move = this.#moves;
    this.#nextMove = null;
    try {
      const range = await read();
      if (move !== this.#moves) return;
      this.#finishMove(scrollTarget, range);
      await this.#loadMissed();
    } catch (error) {
      if (move === this.#moves) throw error;
    }
  }

  #finishMove(scrollTarget: ScrollTarget, range: MessageRange): void {
    const seq = scrollTarget.at === "line" ? scrollTarget.seq : scrollTarget.at === "end" ? Number.POSITIVE_INFINITY : 0;
    if (scrollTarget.at === "line" && seq <= this.floor) this.isCutOpen = true;
    this.#visibleSeq = seq;
    this.#setRange(range);
    this.scrollTarget = scrollTarget;
  }
}
