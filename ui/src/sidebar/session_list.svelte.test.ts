import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SessionRowView } from "../api/schema.ts";
import { createRow } from "./session_row_fixture.ts";

type Server = (query: URLSearchParams) => { items: SessionRowView[]; next: string | null };

const asked: URLSearchParams[] = [];
let answer: Server = () => ({ items: [], next: null });
let failing: (() => Response | Promise<Response>) | null = null;

/** What the modules want of a browser when they are loaded, and a server that answers at once. */
function pretend(): void {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("fetch", (address: string) => {
    const query = new URLSearchParams(address.split("?")[1]);
    asked.push(query);
    return Promise.resolve(failing ? failing() : Response.json(answer(query)));
  });
}

const many = (from: number, to: number): SessionRowView[] =>
  Array.from({ length: to - from }, (_, at) => createRow(`s${String(999 - from - at)}`, 59));

async function make() {
  const { SessionList } = await import("./session_list.svelte.ts");
  return new SessionList();
}

const ids = ({ all }: { all: readonly SessionRowView[] }): string[] => all.map(({ session }) => session.id);

beforeEach(() => {
  vi.useFakeTimers();
  pretend();
  asked.length = 0;
  failing = null;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the list of conversations", () => {
  it("is read page by page, each page once", async () => {
    const pages = [{ items: many(0, 100), next: "b" }, { items: many(100, 150), next: null }] as const;
    answer = (query) => pages[query.has("after") ? 1 : 0];
    const rows = await make();
    await rows.load();
    expect([rows.all.length, rows.hasMore]).toEqual([100, true]);
    await Promise.all([rows.loadMore(), rows.loadMore()]);
    await rows.loadMore();
    expect([rows.all.length, rows.hasMore, asked.length]).toEqual([150, false, 2]);
  });

  it("reads together, by their ids alone, the rows that events name", async () => {
    answer = () => ({ items: [createRow("b", 20), createRow("a", 10)], next: null });
    const rows = await make();
    await rows.load();
    answer = () => ({ items: [createRow("a", 30), createRow("n", 25)], next: null });
    for (const id of ["a", "n", "a"]) rows.refresh(id);
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.getAll("ids")).toEqual(["a", "n"]);
    // Whoever asks by ids may not ask by a filter.
    expect([...(asked[1]?.keys() ?? [])].filter((key) => !["ids", "profile", "device"].includes(key))).toEqual([]);
    expect(ids(rows)).toEqual(["a", "n", "b"]);
  });

  it("reads anew as much as is shown, and shows the old until then", async () => {
    const pages = [{ items: many(0, 100), next: "b" }, { items: many(100, 300), next: "c" }] as const;
    answer = (query) => pages[query.has("after") ? 1 : 0];
    const rows = await make();
    await rows.load();
    await rows.loadMore();
    expect(rows.all).toHaveLength(300);
    const again = rows.load();
    expect(rows.all).toHaveLength(300);
    await again;
    expect([rows.all.length, asked.slice(2).map((query) => query.get("most"))]).toEqual([300, ["200", "200"]]);
  });

  it("shows a change at once, and leaves to the server what is true", async () => {
    answer = () => ({ items: [createRow("b", 20), createRow("a", 10)], next: null });
    const rows = await make();
    await rows.load();
    rows.applyOptimistic(["b"], { archived_at: "2026-01-31T11:00:00.000000Z" });
    expect(ids(rows)).toEqual(["a"]);
    answer = () => ({ items: [createRow("b", 20)], next: null });
    rows.refresh("b");
    await vi.advanceTimersByTimeAsync(100);
    expect(ids(rows)).toEqual(["b", "a"]);
  });

  it("leaves the list of a person to the server", async () => {
    answer = () => ({ items: [createRow("a", 10)], next: null });
    const rows = await make();
    rows.setFilter({ person: 7 });
    await vi.advanceTimersByTimeAsync(0);
    for (const id of ["n", "a", "m"]) rows.refresh(id);
    await vi.advanceTimersByTimeAsync(100);
    // What is known to be theirs is read as ever; the others together, and not at once.
    expect(asked.slice(1).map((query) => query.getAll("ids"))).toEqual([["a"]]);
    rows.refresh("n");
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked).toHaveLength(3);
    expect(asked[2]?.get("person")).toBe("7");
    await vi.advanceTimersByTimeAsync(10_000);
    expect([asked.length, ids(rows)]).toEqual([3, ["a"]]);
  });

  it("never shows an older answer after a newer one", async () => {
    answer = () => ({ items: [createRow("a", 10)], next: null });
    const rows = await make();
    await rows.load();
    const answers: ((items: SessionRowView[]) => void)[] = [];
    failing = () => new Promise((say) => answers.push((items) => say(Response.json({ items, next: null }))));
    rows.refresh("a");
    await vi.advanceTimersByTimeAsync(100);
    rows.refresh("a");
    await vi.advanceTimersByTimeAsync(1000);
    // The second question waits for the answer to the first.
    expect(answers).toHaveLength(1);
    answers[0]?.([createRow("a", 20)]);
    await vi.advanceTimersByTimeAsync(100);
    answers[1]?.([createRow("a", 30)]);
    await vi.advanceTimersByTimeAsync(0);
    expect(rows.all.map(({ session }) => session.last_activity_at.slice(14, 16))).toEqual(["30"]);
  });

  it("is not set back by a reading that began before something happened", async () => {
    answer = () => ({ items: [createRow("a", 10)], next: null });
    const rows = await make();
    await rows.load();
    let finish: (answer: Response) => void = () => undefined;
    failing = () => new Promise((say) => (finish = say));
    const reading = rows.load();
    rows.refresh("a");
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(2);
    failing = null;
    finish(Response.json({ items: [createRow("a", 10)], next: null }));
    await reading;
    answer = () => ({ items: [createRow("a", 30)], next: null });
    await vi.advanceTimersByTimeAsync(100);
    expect(asked[2]?.getAll("ids")).toEqual(["a"]);
    expect(rows.all.map(({ session }) => session.last_activity_at.slice(14, 16))).toEqual(["30"]);
  });

  it("asks again for rows that a server in trouble did not tell", async () => {
    answer = () => ({ items: [createRow("a", 10)], next: null });
    const rows = await make();
    await rows.load();
    failing = () => Response.json({ detail: "busy" }, { status: 503, headers: { "Retry-After": "2" } });
    rows.refresh("a");
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toHaveLength(2);
    failing = null;
    await vi.advanceTimersByTimeAsync(1900);
    expect(asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(100);
    expect(asked[2]?.getAll("ids")).toEqual(["a"]);
    failing = () => Response.json({ detail: "no" }, { status: 422 });
    rows.refresh("a");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(4);
  });

  it("begins anew with another filter, also after an error", async () => {
    failing = () => Response.json({ detail: "no" }, { status: 500 });
    const rows = await make();
    await rows.load();
    expect(rows.error).not.toBeNull();
    failing = () => new Promise(() => undefined);
    rows.setFilter({ isUnread: true });
    expect([rows.error, rows.isLoading]).toEqual([null, true]);
  });

  it("shows nothing of one profile in another", async () => {
    answer = () => ({ items: [createRow("a", 10)], next: null });
    const rows = await make();
    rows.setFilter({ platform: "telegram" });
    await vi.advanceTimersByTimeAsync(0);
    const { app } = await import("../state/app.svelte.ts");
    app.profile = "other";
    const reading = rows.load();
    expect([rows.all, rows.isUnfiltered, [...rows.platforms]]).toEqual([[], true, []]);
    await reading;
    expect(asked[1]?.get("profile")).toBe("other");
    app.profile = "main";
  });
});
