// The passage of a transcript that is loaded, and how a reader moves about in it.

import type { CutView, MessageView } from "../api/schema.ts";
import type { Reading } from "./reading.ts";
import {
  begun,
  folded,
  grownDown,
  grownUp,
  isCutShort,
  NOTHING,
  replaced,
  seqOf,
  trimmed,
  type Stretch,
} from "./stretch.ts";

export const WINDOW = 600;
export const PAGE = 60;

/** Where the reader is to be brought: to the end, to the beginning, or to a line, which is then marked. */
export type Aim = { at: "end" | "beginning" } | { at: "line"; seq: number };

/** A way to another place. */
interface Move {
  aim: Aim;
  read: () => Promise<Stretch>;
}

export class Passage {
  cuts = $state.raw<readonly CutView[]>([]);
  aim = $state.raw<Aim | null>(null);
  lastSeq = $state(0);
  /** What was compacted is unfolded. */
  isCutOpen = $state(false);
  isHiddenShown = $state(false);
  #stretch = $state.raw<Stretch>(NOTHING);

  readonly lines = $derived(this.#stretch.lines);
  readonly hasEarlier = $derived(this.#stretch.hasEarlier);
  readonly hasLater = $derived(this.#stretch.hasLater);
  /** The stretch that a summary stands for; the latest covers all before it. */
  readonly compaction = $derived(this.cuts.findLast((cut) => cut.kind === "compacted") ?? null);
  /** Up to this line everything is folded away. */
  readonly floor = $derived(this.isCutOpen ? 0 : (this.compaction?.to_seq ?? 0));

  readonly #reading: Reading;
  /** The line that is looked at: what is far from it goes first. */
  #lookedAt = Number.POSITIVE_INFINITY;
  #moves = 0;
  /** Where the reader wants to go next, while the way there is being read, or an earlier one. */
  #wish: Move | null = null;
  #moving: Promise<void> | null = null;
  #isPaging = false;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** Begin at the end, or around a line. */
  async open(seq: number | null): Promise<void> {
    this.cuts = await this.#reading.cuts();
    await (seq === null ? this.end(true) : this.jump(seq));
  }

  /** Remember which line is before the reader's eyes. */
  look(seq: number): void {
    this.#lookedAt = seq;
  }

  /** Load what is before. */
  async earlier(): Promise<void> {
    const first = seqOf(this.lines[0]);
    if (!this.hasEarlier || this.#isPaging) return;
    await this.#page(async () => {
      const page = await this.#reading.page({ before: first, most: PAGE, hidden: this.isHiddenShown });
      // Somebody may have gone elsewhere meanwhile.
      if (seqOf(this.lines[0]) === first) this.#keep(grownUp(this.#stretch, page, this.floor));
    });
  }

  /** Load what is after. */
  async later(): Promise<void> {
    const last = seqOf(this.lines.at(-1));
    if (!this.hasLater || this.#isPaging) return;
    await this.#page(async () => {
      const { items } = await this.#reading.page({ after: last, most: PAGE, hidden: this.isHiddenShown });
      if (seqOf(this.lines.at(-1)) !== last) return;
      this.#keep(grownDown(this.#stretch, items, items.length === PAGE));
      await this.#catchUp();
    });
  }

  /** Bring the reader to a line, wherever it is; what it is folded into opens. */
  async jump(seq: number): Promise<void> {
    const aim: Aim = { at: "line", seq };
    if (this.lines.some((line) => line.seq === seq)) return this.#stay(aim);
    await this.#move(aim, async () => {
      const page = await this.#reading.page({ around: seq, most: PAGE, hidden: this.isHiddenShown });
      return begun(page, seq <= this.floor ? 0 : this.floor, isCutShort(page, seq, PAGE));
    });
  }

  /** Bring the reader to the beginning. */
  async begin(): Promise<void> {
    const aim: Aim = { at: "beginning" };
    if (!this.hasEarlier) return this.#stay(aim);
    await this.#move(aim, async () => {
      const page = await this.#reading.page({ after: this.floor, most: PAGE, hidden: this.isHiddenShown });
      return { ...begun(page, this.floor, page.items.length === PAGE), hasEarlier: false };
    });
  }

  /** Bring the reader to the end. */
  async end(isRead = this.hasLater): Promise<void> {
    const aim: Aim = { at: "end" };
    if (!isRead) return this.#stay(aim);
    await this.#move(aim, async () => {
      const page = await this.#reading.page({ most: PAGE, hidden: this.isHiddenShown });
      return begun(page, this.floor, false);
    });
  }

  /** Read the lines that were added at the end, if the end is loaded; answers them. */
  async readNew(): Promise<readonly MessageView[]> {
    while (!this.hasLater) {
      const last = this.#last();
      const { page, hasLater } = await this.#reading.between(last + 1, null, this.isHiddenShown);
      // Somebody may have gone elsewhere and come back meanwhile.
      if (this.hasLater || this.#last() !== last) continue;
      this.#keep(grownDown(this.#stretch, page.items, hasLater));
      return page.items;
    }
    return [];
  }

  async readLine(seq: number): Promise<void> {
    if (!this.lines.some((line) => line.seq === seq)) return;
    const line = await this.#reading.line(seq);
    this.#stretch = replaced(this.#stretch, line);
  }

  /** Read in place all that is loaded, because some of it went out of sight or came back. */
  async readAnew(): Promise<void> {
    for (;;) {
      const before = this.#stretch;
      const [first, last] = [seqOf(this.lines[0]), seqOf(this.lines.at(-1))];
      const cuts = await this.#reading.cuts();
      // What is folded away may be very long: it is not read only because something else has changed.
      const from = this.hasEarlier || this.floor > 0 ? first || this.floor + 1 : 1;
      const { page, hasLater } = await this.#reading.between(from, this.hasLater ? last : null, this.isHiddenShown);
      // What is loaded may be something else by now.
      if (this.#stretch !== before) continue;
      const isFolded = this.floor > 0;
      this.cuts = cuts;
      const fresh = begun(page, this.floor, hasLater);
      // Where nothing is folded any more, there is something before.
      const hasEarlier = this.floor === 0 && (isFolded || this.hasEarlier) && from > 1;
      return this.#keep({ ...fresh, hasEarlier: hasEarlier || fresh.hasEarlier });
    }
  }

  /** Unfold what was compacted, or fold it again. */
  async unfold(isOpen: boolean): Promise<void> {
    this.isCutOpen = isOpen;
    if (isOpen) {
      this.#stretch = { ...this.#stretch, hasEarlier: this.compaction !== null };
      await this.earlier();
      // It grows upwards: without this nothing of it might be seen.
      if (this.compaction) this.aim = { at: "line", seq: this.compaction.to_seq };
    } else {
      this.#stretch = folded(this.#stretch, this.floor);
      if (this.lines.length === 0) await this.end(true);
    }
  }

  #keep(stretch: Stretch): void {
    this.#stretch = trimmed(stretch, this.#lookedAt, WINDOW);
    this.lastSeq = Math.max(this.lastSeq, seqOf(stretch.lines.at(-1)));
  }

  async #page(read: () => Promise<void>): Promise<void> {
    this.#isPaging = true;
    try {
      await read();
    } finally {
      this.#isPaging = false;
    }
  }

  /** Read what was added on the way to the end: while that was not loaded, nobody else told of it. */
  async #catchUp(): Promise<void> {
    if (!this.hasLater && this.#last() < this.lastSeq) await this.readNew();
  }

  /** Tell the last line that is loaded, or folded away where none is. */
  #last(): number {
    return seqOf(this.lines.at(-1)) || this.floor;
  }

  /** Go to what is loaded: what was on its way elsewhere no longer counts. */
  #stay(aim: Aim): void {
    this.#moves++;
    this.#wish = null;
    this.aim = aim;
  }

  /** Go elsewhere, one way after the other; of several quick moves only the last counts. */
  async #move(aim: Aim, read: () => Promise<Stretch>): Promise<void> {
    const move = ++this.#moves;
    this.#wish = { aim, read };
    this.#moving ??= this.#go();
    try {
      await this.#moving;
    } catch (error) {
      if (move === this.#moves) throw error;
    }
  }

  async #go(): Promise<void> {
    try {
      while (this.#wish) await this.#fulfil(this.#wish);
    } finally {
      this.#moving = null;
    }
  }

  async #fulfil({ aim, read }: Move): Promise<void> {
    const move = this.#moves;
    this.#wish = null;
    try {
      const stretch = await read();
      if (move !== this.#moves) return;
      this.#arrive(aim, stretch);
      await this.#catchUp();
    } catch (error) {
      if (move === this.#moves) throw error;
    }
  }

  #arrive(aim: Aim, stretch: Stretch): void {
    const seq = aim.at === "line" ? aim.seq : aim.at === "end" ? Number.POSITIVE_INFINITY : 0;
    if (aim.at === "line" && seq <= this.floor) this.isCutOpen = true;
    this.#lookedAt = seq;
    this.#keep(stretch);
    this.aim = aim;
  }
}
