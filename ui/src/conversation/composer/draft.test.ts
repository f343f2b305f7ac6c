import { describe, expect, it } from "vitest";
import { Draft, WAIT_MS, type Desk } from "./draft.ts";

/** A desk whose clock goes by hand, and whose server can be away. */
class Table implements Desk {
  here: string | null = null;
  there: string[] = [];
  isAway = false;
  waiting: { what: () => void; ms: number }[] = [];
  /** While set, the server takes its time. */
  gate: Promise<void> = Promise.resolve();

  read = (): string | null => this.here;
  write = (text: string | null): void => void (this.here = text);
  put = async (text: string): Promise<void> => {
    await this.gate;
    if (this.isAway) throw new Error("away");
    this.there.push(text);
  };
  later = (what: () => void, ms: number): (() => void) => {
    const one = { what, ms };
    this.waiting.push(one);
    return () => void (this.waiting = this.waiting.filter((other) => other !== one));
  };
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
    expect([later.text, later.isPut]).toEqual(["On the train", false]);
    table.isAway = false;
    await later.flush();
    expect([table.there, later.isPut]).toEqual([["On the train"], true]);
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

  it("keeps what is on its way until it has arrived", async () => {
    const table = new Table();
    const draft = new Draft(table);
    draft.change("Are you there?");
    draft.hold(["Are you there?"]);
    draft.change("");
    await draft.flush();
    const after = new Table();
    after.here = table.here;
    expect(new Draft(after).text).toBe("Are you there?");
    draft.hold([]);
    expect([table.here, table.there.at(-1)]).toEqual([null, ""]);
  });

  it("offers what was on its way together with what was written since", () => {
    const table = new Table();
    const draft = new Draft(table);
    draft.hold(["first", "second"]);
    draft.change("third");
    expect(new Draft(table).text).toBe("first\n\nsecond\n\nthird");
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
