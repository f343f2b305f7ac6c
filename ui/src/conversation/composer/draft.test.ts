import { describe, expect, it } from "vitest";
import { Draft, type DraftStorage, WAIT_MS } from "./draft.ts";

/** A desk whose clock goes by hand, and whose server can be away. */
class Table implements DraftStorage {
  here: string | null = null;
  there: string[] = [];
  left: string[] = [];
  isAway = false;
  isFull = false;
  warnings = 0;
  waiting: { what: () => void; ms: number }[] = [];
  /** While set, the server takes its time. */
  gate: Promise<void> = Promise.resolve();

  read = (): string | null => this.here;
  write = (text: string | null): boolean => {
    if (!this.isFull) this.here = text;
    return !this.isFull;
  };
  put = async (text: string, isLeaving: boolean): Promise<void> => {
    if (isLeaving) this.left.push(text);
    await this.gate;
    if (this.isAway) throw new Error("away");
    this.there.push(text);
  };
  later = (what: () => void, ms: number): (() => void) => {
    const one = { what, ms };
    this.waiting.push(one);
    return () => void (this.waiting = this.waiting.filter((other) => other !== one));
  };
  warn = (): void => void this.warnings++;
}

describe("Draft", () => {
  it("keeps words here at once, and tells the server once after a pause", async () => {
    const table = new Table();
    const draft = new Draft(table);
    draft.change("H");
    draft.change("Hello");
    expect(new Draft(table).text).toBe("Hello");
    expect(table.there).toEqual([]);
    expect(table.waiting.map((one) => one.ms)).toEqual([WAIT_MS]);
    table.waiting[0]?.what();
    await draft.flush();
    expect(table.there).toEqual(["Hello"]);
  });

  it("loses nothing while the server is away, and tells it later", async () => {
    const table = new Table();
    table.isAway = true;
    const draft = new Draft(table);
    draft.change("On the train");
    await draft.flush();
    const later = new Draft(table);
    expect(later.text).toBe("On the train");
    table.isAway = false;
    await later.flush();
    await later.flush();
    expect(table.there).toEqual(["On the train"]);
  });

  it("lets what is here win over what the server has kept", () => {
    const table = new Table();
    const draft = new Draft(table);
    expect(draft.restore("from the server")).toBe("from the server");
    draft.change("newer");
    expect(new Draft(table).restore("from the server")).toBe("newer");
  });

  it("does not bring back what was emptied here and could not be told yet", () => {
    const table = new Table();
    table.isAway = true;
    const draft = new Draft(table);
    draft.change("x");
    draft.change("");
    expect(new Draft(table).restore("x")).toBe("");
  });

  it("tells the server once more when the page is left while it is being told", async () => {
    const table = new Table();
    let open = (): void => undefined;
    table.gate = new Promise((resolve) => (open = resolve));
    const draft = new Draft(table);
    draft.change("almost don");
    const telling = draft.flush();
    draft.change("almost done");
    void draft.flush(true);
    expect(table.left).toEqual(["almost done"]);
    open();
    await telling;
  });

  it("says once that words are kept nowhere", async () => {
    const table = new Table();
    table.isAway = true;
    const draft = new Draft(table);
    draft.change("kept here");
    await draft.flush();
    expect(table.warnings).toBe(0);
    table.isFull = true;
    for (const text of ["much", "more"]) {
      draft.change(text);
      await draft.flush();
    }
    expect(table.warnings).toBe(1);
  });

  it("never lets an older text come last", async () => {
    const table = new Table();
    let open = (): void => undefined;
    table.gate = new Promise((resolve) => (open = resolve));
    const draft = new Draft(table);
    draft.change("old");
    const telling = draft.flush();
    draft.change("new");
    const again = draft.flush();
    open();
    await Promise.all([telling, again]);
    expect(table.there).toEqual(["old", "new"]);
  });

  it("takes what cannot be read for nothing", () => {
    const table = new Table();
    table.here = "{";
    expect(new Draft(table).text).toBe("");
    table.here = '{"text": 3}';
    expect(new Draft(table).text).toBe("");
  });
});
