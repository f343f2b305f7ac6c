import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SessionRowView } from "../api/schema.ts";
import { sample } from "./sample.ts";

type Server = (query: URLSearchParams) => { items: SessionRowView[]; next: string | null };

const asked: URLSearchParams[] = [];
let answer: Server = () => ({ items: [], next: null });

/** What the modules want of a browser when they are loaded, and a server that answers at once. */
function pretend(): void {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("fetch", (address: string) => {
    const query = new URLSearchParams(address.split("?")[1]);
    asked.push(query);
    return Promise.resolve(Response.json(answer(query)));
  });
}

const many = (from: number, to: number): SessionRowView[] =>
  Array.from({ length: to - from }, (_, at) => sample(`s${String(999 - from - at)}`, 59));

async function make() {
  const { Rows } = await import("./rows.svelte.ts");
  return new Rows();
}

const ids = ({ all }: { all: readonly SessionRowView[] }): string[] => all.map(({ session }) => session.id);

beforeEach(() => {
  vi.useFakeTimers();
  pretend();
  asked.length = 0;
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
    await rows.read();
    expect([rows.all.length, rows.hasMore]).toEqual([100, true]);
    await Promise.all([rows.more(), rows.more()]);
    await rows.more();
    expect([rows.all.length, rows.hasMore, asked.length]).toEqual([150, false, 2]);
  });

  it("reads together, by their ids alone, the rows that events name", async () => {
    answer = () => ({ items: [sample("b", 20), sample("a", 10)], next: null });
    const rows = await make();
    await rows.read();
    answer = () => ({ items: [sample("a", 30), sample("n", 25)], next: null });
    for (const id of ["a", "n", "a"]) rows.touch(id);
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
    await rows.read();
    await rows.more();
    expect(rows.all).toHaveLength(300);
    const again = rows.read();
    expect(rows.all).toHaveLength(300);
    await again;
    expect([rows.all.length, asked.slice(2).map((query) => query.get("most"))]).toEqual([300, ["200", "200"]]);
  });

  it("shows a change at once, and leaves to the server what is true", async () => {
    answer = () => ({ items: [sample("b", 20), sample("a", 10)], next: null });
    const rows = await make();
    await rows.read();
    rows.imagine(["b"], { archived_at: "2026-01-31T11:00:00.000000Z" });
    expect(ids(rows)).toEqual(["a"]);
    answer = () => ({ items: [sample("b", 20)], next: null });
    rows.touch("b");
    await vi.advanceTimersByTimeAsync(100);
    expect(ids(rows)).toEqual(["b", "a"]);
  });

  it("leaves the list of a person to the server", async () => {
    answer = () => ({ items: [sample("a", 10)], next: null });
    const rows = await make();
    rows.choose({ person: 7 });
    await vi.advanceTimersByTimeAsync(0);
    rows.touch("n");
    await vi.advanceTimersByTimeAsync(100);
    expect(asked.map((query) => query.get("person"))).toEqual(["7", "7"]);
    expect(ids(rows)).toEqual(["a"]);
  });
});
