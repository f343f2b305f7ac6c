import { describe, expect, it } from "vitest";
import type { HiddenRangeView, MessagePageView, MessageView } from "../../api/schema.ts";
import { ConversationApi } from "../conversation_api.ts";
import { MAX_LOADED, MessagePager, PAGE_SIZE } from "./message_pager.svelte.ts";
import { getSeq } from "./messages.ts";

interface Where {
  before?: number;
  after?: number;
  around?: number;
  most: number;
  hidden: boolean;
}

/** A transcript of so many lines, read as the server reads it. */
class Book extends ConversationApi {
  marks: HiddenRangeView[] = [];
  asked = 0;
  /** What happens while a page is on its way. */
  meanwhile: (() => unknown) | null = null;

  constructor(public length: number) {
    super({} as ConversationApi["client"], "one", "main");
  }

  override async listCuts(): Promise<readonly HiddenRangeView[]> {
    return this.marks;
  }

  override async getMessage(seq: number): Promise<MessageView> {
    return { ...line(seq), changed_at: "2026-01-31T19:00:00Z" };
  }

  override async getPage({ before, after, around, most, hidden }: Where): Promise<MessagePageView> {
    this.asked++;
    const whole = Array.from({ length: this.length }, (_, at) => line(at + 1));
    const all = whole.filter((one) => hidden || this.#isShown(one));
    const half = Math.floor(most / 2);
    const upto = (seq: number, many: number): MessageView[] => all.filter((one) => getSeq(one) < seq).slice(-many);
    const from = (seq: number, many: number): MessageView[] => all.filter((one) => getSeq(one) > seq).slice(0, many);
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
    return { items, before: isBeginning ? null : getSeq(items[0]), after: getSeq(items.at(-1)) };
  }

  #isShown(one: MessageView): boolean {
    const seq = getSeq(one);
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
const cut = (kind: HiddenRangeView["kind"], from_seq: number, to_seq: number): HiddenRangeView => ({
  key: to_seq,
  kind,
  from_seq,
  to_seq,
  user_messages: 1,
  summary: null,
  made_at: "2026-01-31T18:45:00Z",
});
const ends = (pager: MessagePager): [number, number] => [getSeq(pager.lines[0]), getSeq(pager.lines.at(-1))];
const opened = async (book: Book, seq: number | null = null): Promise<MessagePager> => {
  const pager = new MessagePager(book);
  await pager.open(seq);
  return pager;
};

describe("a passage", () => {
  it("opens at the end", async () => {
    const pager = await opened(new Book(1000));
    expect(ends(pager)).toEqual([1000 - PAGE_SIZE + 1, 1000]);
    expect([pager.hasEarlier, pager.hasLater, pager.scrollTarget]).toEqual([true, false, { at: "end" }]);
  });

  it("stays at the beginning if the reader goes there while it opens", async () => {
    const slow = new Book(3);
    const pager = new MessagePager(slow);
    const opening = pager.open(null);
    await pager.goToStart();
    await opening;
    expect([ends(pager), pager.scrollTarget]).toEqual([[1, 3], { at: "beginning" }]);

    const slower = new Book(3);
    const other = new MessagePager(slower);
    slower.meanwhile = () => Promise.resolve().then(() => void other.goToStart());
    await other.open(null);
    expect([ends(other), other.scrollTarget]).toEqual([[1, 3], { at: "beginning" }]);
  });

  it("goes from the end to the beginning and back, and never holds more than its window", async () => {
    const pager = await opened(new Book(5000));
    while (pager.hasEarlier) {
      pager.setVisible(getSeq(pager.lines[0]));
      await pager.loadEarlier();
      expect(pager.lines.length).toBeLessThanOrEqual(MAX_LOADED);
    }
    expect(ends(pager)).toEqual([1, MAX_LOADED]);
    while (pager.hasLater) {
      pager.setVisible(getSeq(pager.lines.at(-1)));
      await pager.loadLater();
      expect(pager.lines.length).toBeLessThanOrEqual(MAX_LOADED);
    }
    expect(ends(pager)).toEqual([5000 - MAX_LOADED + 1, 5000]);
    expect(pager.lines.every((one, at) => at === 0 || getSeq(one) === getSeq(pager.lines[at - 1]) + 1)).toBe(true);
  });

  it("jumps anywhere, and of several quick jumps only the last counts", async () => {
    const pager = await opened(new Book(5000));
    await Promise.all([pager.jumpTo(100), pager.jumpTo(4000), pager.jumpTo(2000)]);
    expect(ends(pager)).toEqual([2000 - PAGE_SIZE / 2, 2000 + PAGE_SIZE / 2 - 1]);
    expect(pager.scrollTarget).toEqual({ at: "line", seq: 2000 });
    await pager.goToStart();
    expect(ends(pager)).toEqual([1, PAGE_SIZE]);
    await pager.goToEnd();
    expect(ends(pager)[1]).toBe(5000);
  });

  it("reads one place at a time, and not those that nobody wants to go to any more", async () => {
    const book = new Book(5000);
    const pager = await opened(book);
    const { asked } = book;
    await Promise.all([1000, 1500, 2000, 2500, 3000].map((seq) => pager.jumpTo(seq)));
    expect(pager.scrollTarget).toEqual({ at: "line", seq: 3000 });
    expect(book.asked - asked).toBe(2);
  });

  it("is not pulled away by an earlier move from what is loaded", async () => {
    const pager = await opened(new Book(5000));
    for (const back of [() => pager.goToEnd(), () => pager.jumpTo(4990)]) {
      await Promise.all([pager.goToStart(), back()]);
      expect(ends(pager)[1]).toBe(5000);
    }
    expect(pager.scrollTarget).toEqual({ at: "line", seq: 4990 });
  });

  it("opens no fold for a jump that nobody wants any more", async () => {
    const book = new Book(1000);
    book.marks = [cut("compacted", 1, 900)];
    const pager = await opened(book);
    await Promise.all([pager.jumpTo(10), pager.goToEnd()]);
    expect([...ends(pager), pager.isCutOpen]).toEqual([941, 1000, false]);
  });

  it("tells only the last of several moves that it failed, and goes on from there", async () => {
    const book = new Book(5000);
    const pager = await opened(book);
    const away = (): never => {
      throw new Error("away");
    };
    book.meanwhile = () => {
      book.meanwhile = away;
      away();
    };
    const moves = await Promise.allSettled([pager.jumpTo(100), pager.jumpTo(2000)]);
    expect(moves.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await pager.jumpTo(2000);
    expect(pager.scrollTarget).toEqual({ at: "line", seq: 2000 });
  });

  it("does not read what is there already", async () => {
    const book = new Book(100);
    const pager = await opened(book);
    const { asked } = book;
    await pager.jumpTo(90);
    await pager.goToEnd();
    expect(book.asked).toBe(asked);
  });

  it("adds new lines at the end only if the end is loaded", async () => {
    const book = new Book(1000);
    const pager = await opened(book);
    book.length = 1300;
    expect(await pager.loadNew()).toHaveLength(300);
    expect(ends(pager)[1]).toBe(1300);
    await pager.jumpTo(50);
    book.length = 1301;
    expect(await pager.loadNew()).toEqual([]);
    expect(pager.hasLater).toBe(true);
  });

  it("reads in place what was undone, and what is shown again", async () => {
    const book = new Book(100);
    const pager = await opened(book);
    book.marks = [cut("undone", 91, 100)];
    await pager.reload();
    expect(ends(pager)).toEqual([41, 90]);
    pager.isHiddenShown = true;
    await pager.reload();
    expect(ends(pager)).toEqual([41, 100]);
  });

  it("takes back what was undone also if somebody goes on meanwhile", async () => {
    const book = new Book(1000);
    const pager = await opened(book);
    book.marks = [cut("undone", 991, 1000)];
    book.meanwhile = () => pager.loadEarlier();
    await pager.reload();
    expect(ends(pager)).toEqual([1000 - 2 * PAGE_SIZE + 1, 990]);
    expect(pager.cuts).toHaveLength(1);
  });

  it("loses no line that is added while all is read anew, or the last one is replaced", async () => {
    const book = new Book(100);
    const pager = await opened(book);
    book.meanwhile = async () => {
      book.length = 101;
      await pager.loadNew();
    };
    await pager.reload();
    expect(ends(pager)[1]).toBe(101);
    book.length = 102;
    await Promise.all([pager.reloadMessage(99), pager.loadNew()]);
    expect(ends(pager)[1]).toBe(102);
  });

  it("has the last line also if that was added on the way to the end", async () => {
    const book = new Book(1000);
    const pager = await opened(book, 10);
    book.meanwhile = () => (pager.lastSeq = book.length = 1001);
    await pager.goToEnd();
    expect(ends(pager)[1]).toBe(1001);
  });

  it("has it also if it was added while somebody read on towards the end", async () => {
    const book = new Book(100);
    const pager = await opened(book, 40);
    book.meanwhile = () => (pager.lastSeq = book.length = 101);
    await pager.loadLater();
    expect(ends(pager)[1]).toBe(101);
  });

  it("reads what is new once more when somebody went away and came back meanwhile", async () => {
    const book = new Book(1000);
    const pager = await opened(book);
    book.length = 1001;
    book.meanwhile = async () => {
      await pager.goToStart();
      await pager.goToEnd();
      book.length = 1002;
    };
    await pager.loadNew();
    expect(ends(pager)[1]).toBe(1002);
  });

  it("folds what is compacted, and unfolds it for whoever wants to see it or jumps there", async () => {
    const book = new Book(100);
    book.marks = [cut("compacted", 1, 80)];
    const pager = await opened(book);
    expect([...ends(pager), pager.hasEarlier]).toEqual([81, 100, false]);
    await pager.setUnfolded(true);
    expect([...ends(pager), pager.hasEarlier]).toEqual([21, 100, true]);
    expect(pager.scrollTarget).toEqual({ at: "line", seq: 80 });
    await pager.setUnfolded(false);
    expect([...ends(pager), pager.hasEarlier]).toEqual([81, 100, false]);
    await pager.jumpTo(10);
    expect(pager.isCutOpen).toBe(true);
    expect(ends(pager)[0]).toBe(1);
  });

  it("shows what comes before when a compaction is taken back", async () => {
    const book = new Book(100);
    book.marks = [cut("compacted", 1, 80)];
    const pager = await opened(book);
    book.marks = [];
    await pager.reload();
    expect([...ends(pager), pager.hasEarlier]).toEqual([81, 100, true]);
    await pager.loadEarlier();
    expect(ends(pager)[0]).toBe(21);
  });

  it("does not read what is folded away when something else changes", async () => {
    const book = new Book(20_000);
    book.marks = [cut("compacted", 1, 19_950)];
    const pager = await opened(book);
    const { asked } = book;
    book.marks = [...book.marks, cut("undone", 19_999, 20_000)];
    await pager.reload();
    expect(ends(pager)).toEqual([19_951, 19_998]);
    expect(book.asked - asked).toBe(1);
  });

  it("reads only so far when very much is new", async () => {
    const book = new Book(100);
    const pager = await opened(book);
    book.length = 20_000;
    await pager.loadNew();
    expect(pager.hasLater).toBe(true);
    expect(pager.lines.length).toBeLessThanOrEqual(MAX_LOADED);
  });

  it("takes a line that reads differently now", async () => {
    const pager = await opened(new Book(100));
    await pager.reloadMessage(99);
    expect(pager.lines.find((one) => one.seq === 99)?.changed_at).not.toBeNull();
  });
});
