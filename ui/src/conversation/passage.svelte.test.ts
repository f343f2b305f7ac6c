import { describe, expect, it } from "vitest";
import type { CutView, MessagePage, MessageView } from "../api/schema.ts";
import { PAGE, Passage, WINDOW } from "./passage.svelte.ts";
import { Reading } from "./reading.ts";
import { seqOf } from "./stretch.ts";

interface Where {
  before?: number;
  after?: number;
  around?: number;
  most: number;
  hidden: boolean;
}

/** A transcript of so many lines, read as the server reads it. */
class Book extends Reading {
  marks: CutView[] = [];
  asked = 0;
  /** What happens while a page is on its way. */
  meanwhile: (() => unknown) | null = null;

  constructor(public length: number) {
    super({} as Reading["client"], "one", "main");
  }

  override async cuts(): Promise<readonly CutView[]> {
    return this.marks;
  }

  override async line(seq: number): Promise<MessageView> {
    return { ...line(seq), changed_at: "2026-01-31T19:00:00Z" };
  }

  override async page({ before, after, around, most, hidden }: Where): Promise<MessagePage> {
    this.asked++;
    const whole = Array.from({ length: this.length }, (_, at) => line(at + 1));
    const all = whole.filter((one) => hidden || this.#isShown(one));
    const half = Math.floor(most / 2);
    const upto = (seq: number, many: number): MessageView[] => all.filter((one) => seqOf(one) < seq).slice(-many);
    const from = (seq: number, many: number): MessageView[] => all.filter((one) => seqOf(one) > seq).slice(0, many);
    const items =
      around !== undefined
        ? [...upto(around, half), ...from(around - 1, most - half)]
        : after !== undefined
          ? from(after, most)
          : upto(before ?? Number.POSITIVE_INFINITY, most);
    const isBeginning = items[0] === all[0];
    const { meanwhile } = this;
    this.meanwhile = null;
    await meanwhile?.();
    return { items, before: isBeginning ? null : seqOf(items[0]), after: seqOf(items.at(-1)) };
  }

  #isShown(one: MessageView): boolean {
    const seq = seqOf(one);
    return !this.marks.some((cut) => cut.kind !== "compacted" && cut.from_seq <= seq && seq <= cut.to_seq);
  }
}

const line = (seq: number): MessageView => ({
  key: seq,
  session_id: "one",
  seq,
  role: "user",
  parts: [],
  at: "2026-01-31T18:45:00Z",
  turn_id: null,
  sender_id: null,
  sender_name: null,
  arrived_at: null,
  changed_at: null,
  deleted_at: null,
});
const cut = (kind: CutView["kind"], from_seq: number, to_seq: number): CutView => ({
  key: to_seq,
  kind,
  from_seq,
  to_seq,
  user_messages: 1,
  summary: null,
  made_at: "2026-01-31T18:45:00Z",
});
const ends = (passage: Passage): [number, number] => [seqOf(passage.lines[0]), seqOf(passage.lines.at(-1))];
const opened = async (book: Book, seq: number | null = null): Promise<Passage> => {
  const passage = new Passage(book);
  await passage.open(seq);
  return passage;
};

describe("a passage", () => {
  it("opens at the end", async () => {
    const passage = await opened(new Book(1000));
    expect(ends(passage)).toEqual([1000 - PAGE + 1, 1000]);
    expect([passage.hasEarlier, passage.hasLater, passage.aim]).toEqual([true, false, { at: "end" }]);
  });

  it("goes from the end to the beginning and back, and never holds more than its window", async () => {
    const passage = await opened(new Book(5000));
    while (passage.hasEarlier) {
      passage.look(seqOf(passage.lines[0]));
      await passage.earlier();
      expect(passage.lines.length).toBeLessThanOrEqual(WINDOW);
    }
    expect(ends(passage)).toEqual([1, WINDOW]);
    while (passage.hasLater) {
      passage.look(seqOf(passage.lines.at(-1)));
      await passage.later();
      expect(passage.lines.length).toBeLessThanOrEqual(WINDOW);
    }
    expect(ends(passage)).toEqual([5000 - WINDOW + 1, 5000]);
    expect(passage.lines.every((one, at) => at === 0 || seqOf(one) === seqOf(passage.lines[at - 1]) + 1)).toBe(true);
  });

  it("jumps anywhere, and of several quick jumps only the last counts", async () => {
    const passage = await opened(new Book(5000));
    await Promise.all([passage.jump(100), passage.jump(4000), passage.jump(2000)]);
    expect(ends(passage)).toEqual([2000 - PAGE / 2, 2000 + PAGE / 2 - 1]);
    expect(passage.aim).toEqual({ at: "line", seq: 2000 });
    await passage.begin();
    expect(ends(passage)).toEqual([1, PAGE]);
    await passage.end();
    expect(ends(passage)[1]).toBe(5000);
  });

  it("reads one place at a time, and not those that nobody wants to go to any more", async () => {
    const book = new Book(5000);
    const passage = await opened(book);
    const { asked } = book;
    await Promise.all([1000, 1500, 2000, 2500, 3000].map((seq) => passage.jump(seq)));
    expect(passage.aim).toEqual({ at: "line", seq: 3000 });
    expect(book.asked - asked).toBe(2);
  });

  it("is not pulled away by an earlier move from what is loaded", async () => {
    const passage = await opened(new Book(5000));
    for (const back of [() => passage.end(), () => passage.jump(4990)]) {
      await Promise.all([passage.begin(), back()]);
      expect(ends(passage)[1]).toBe(5000);
    }
    expect(passage.aim).toEqual({ at: "line", seq: 4990 });
  });

  it("opens no fold for a jump that nobody wants any more", async () => {
    const book = new Book(1000);
    book.marks = [cut("compacted", 1, 900)];
    const passage = await opened(book);
    await Promise.all([passage.jump(10), passage.end()]);
    expect([...ends(passage), passage.isCutOpen]).toEqual([941, 1000, false]);
  });

  it("tells only the last of several moves that it failed, and goes on from there", async () => {
    const book = new Book(5000);
    const passage = await opened(book);
    const away = (): never => {
      throw new Error("away");
    };
    book.meanwhile = () => {
      book.meanwhile = away;
      away();
    };
    const moves = await Promise.allSettled([passage.jump(100), passage.jump(2000)]);
    expect(moves.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await passage.jump(2000);
    expect(passage.aim).toEqual({ at: "line", seq: 2000 });
  });

  it("does not read what is there already", async () => {
    const book = new Book(100);
    const passage = await opened(book);
    const { asked } = book;
    await passage.jump(90);
    await passage.end();
    expect(book.asked).toBe(asked);
  });

  it("adds new lines at the end only if the end is loaded", async () => {
    const book = new Book(1000);
    const passage = await opened(book);
    book.length = 1300;
    expect(await passage.readNew()).toHaveLength(300);
    expect(ends(passage)[1]).toBe(1300);
    await passage.jump(50);
    book.length = 1301;
    expect(await passage.readNew()).toEqual([]);
    expect(passage.hasLater).toBe(true);
  });

  it("reads in place what was undone, and what is shown again", async () => {
    const book = new Book(100);
    const passage = await opened(book);
    book.marks = [cut("undone", 91, 100)];
    await passage.readAnew();
    expect(ends(passage)).toEqual([41, 90]);
    passage.isHiddenShown = true;
    await passage.readAnew();
    expect(ends(passage)).toEqual([41, 100]);
  });

  it("takes back what was undone also if somebody goes on meanwhile", async () => {
    const book = new Book(1000);
    const passage = await opened(book);
    book.marks = [cut("undone", 991, 1000)];
    book.meanwhile = () => passage.earlier();
    await passage.readAnew();
    expect(ends(passage)).toEqual([1000 - 2 * PAGE + 1, 990]);
    expect(passage.cuts).toHaveLength(1);
  });

  it("loses no line that is added while all is read anew, or the last one is replaced", async () => {
    const book = new Book(100);
    const passage = await opened(book);
    book.meanwhile = async () => {
      book.length = 101;
      await passage.readNew();
    };
    await passage.readAnew();
    expect(ends(passage)[1]).toBe(101);
    book.length = 102;
    await Promise.all([passage.readLine(99), passage.readNew()]);
    expect(ends(passage)[1]).toBe(102);
  });

  it("has the last line also if that was added on the way to the end", async () => {
    const book = new Book(1000);
    const passage = await opened(book, 10);
    book.meanwhile = () => (passage.lastSeq = book.length = 1001);
    await passage.end();
    expect(ends(passage)[1]).toBe(1001);
  });

  it("has it also if it was added while somebody read on towards the end", async () => {
    const book = new Book(100);
    const passage = await opened(book, 40);
    book.meanwhile = () => (passage.lastSeq = book.length = 101);
    await passage.later();
    expect(ends(passage)[1]).toBe(101);
  });

  it("reads what is new once more when somebody went away and came back meanwhile", async () => {
    const book = new Book(1000);
    const passage = await opened(book);
    book.length = 1001;
    book.meanwhile = async () => {
      await passage.begin();
      await passage.end();
      book.length = 1002;
    };
    await passage.readNew();
    expect(ends(passage)[1]).toBe(1002);
  });

  it("folds what is compacted, and unfolds it for whoever wants to see it or jumps there", async () => {
    const book = new Book(100);
    book.marks = [cut("compacted", 1, 80)];
    const passage = await opened(book);
    expect([...ends(passage), passage.hasEarlier]).toEqual([81, 100, false]);
    await passage.unfold(true);
    expect([...ends(passage), passage.hasEarlier]).toEqual([21, 100, true]);
    expect(passage.aim).toEqual({ at: "line", seq: 80 });
    await passage.unfold(false);
    expect([...ends(passage), passage.hasEarlier]).toEqual([81, 100, false]);
    await passage.jump(10);
    expect(passage.isCutOpen).toBe(true);
    expect(ends(passage)[0]).toBe(1);
  });

  it("shows what comes before when a compaction is taken back", async () => {
    const book = new Book(100);
    book.marks = [cut("compacted", 1, 80)];
    const passage = await opened(book);
    book.marks = [];
    await passage.readAnew();
    expect([...ends(passage), passage.hasEarlier]).toEqual([81, 100, true]);
    await passage.earlier();
    expect(ends(passage)[0]).toBe(21);
  });

  it("does not read what is folded away when something else changes", async () => {
    const book = new Book(20_000);
    book.marks = [cut("compacted", 1, 19_950)];
    const passage = await opened(book);
    const { asked } = book;
    book.marks = [...book.marks, cut("undone", 19_999, 20_000)];
    await passage.readAnew();
    expect(ends(passage)).toEqual([19_951, 19_998]);
    expect(book.asked - asked).toBe(1);
  });

  it("reads only so far when very much is new", async () => {
    const book = new Book(100);
    const passage = await opened(book);
    book.length = 20_000;
    await passage.readNew();
    expect(passage.hasLater).toBe(true);
    expect(passage.lines.length).toBeLessThanOrEqual(WINDOW);
  });

  it("takes a line that reads differently now", async () => {
    const passage = await opened(new Book(100));
    await passage.readLine(99);
    expect(passage.lines.find((one) => one.seq === 99)?.changed_at).not.toBeNull();
  });
});
