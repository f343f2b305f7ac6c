import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FoundView, HitView } from "../api/schema.ts";
import { type FetchHits, Search } from "./search.svelte.ts";

interface Asked {
  text: string;
  after: string | null;
  signal: AbortSignal;
  answer: (found: FoundView) => void;
  fail: (error: unknown) => void;
}

const hit = (seq: number): HitView => ({
  session_id: "a",
  seq,
  key: seq,
  role: "user",
  at: "2026-01-31T10:00:00.000000Z",
  title: null,
  snippet: { text: "", ranges: [] },
  rank: 0,
});
const found = (seqs: number[], next: string | null = null): FoundView => ({
  sessions: [],
  items: seqs.map(hit),
  next,
  is_complete: true,
});

/** A server that answers when it is told to. */
function server(): { ask: FetchHits; asked: Asked[] } {
  const asked: Asked[] = [];
  const ask: FetchHits = (text, after, signal) =>
    new Promise((answer, fail) => asked.push({ text, after, signal, answer, fail }));
  return { ask, asked };
}

const seqs = ({ hits }: Search): number[] => hits.map(({ seq }) => seq);
const settle = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a search", () => {
  it("waits for a pause in the typing, and asks once", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    for (const text of ["n", "nu", "num "]) finding.setQuery(text);
    await vi.advanceTimersByTimeAsync(119);
    expect(asked).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.map(({ text }) => text)).toEqual(["num"]);
  });

  it("heeds the last question only, and stops the one before", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    finding.setQuery("two");
    await vi.advanceTimersByTimeAsync(120);
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[1]?.answer(found([2]));
    asked[0]?.answer(found([1]));
    await settle();
    expect([seqs(finding), finding.answeredQuery, finding.isSearching]).toEqual([[2], "two", false]);
  });

  it("keeps what was found until there is a new answer, and tells what went wrong", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    asked[0]?.answer(found([1]));
    await settle();
    finding.setQuery("two");
    expect([seqs(finding), finding.isSearching]).toEqual([[1], true]);
    await vi.advanceTimersByTimeAsync(120);
    asked[1]?.fail("away");
    await settle();
    expect([seqs(finding), finding.error, finding.isSearching]).toEqual([[], "away", false]);
  });

  it("goes on page by page, and never asks for the same page twice", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    asked[0]?.answer(found([1], "30"));
    await settle();
    void finding.loadMore();
    void finding.loadMore();
    expect(asked).toHaveLength(2);
    asked[1]?.answer(found([2]));
    await settle();
    await finding.loadMore();
    expect([seqs(finding), asked[1]?.after, asked.length]).toEqual([[1, 2], "30", 2]);
  });

  it("tells that it cannot go on, and goes on when it is asked to", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    asked[0]?.answer(found([1], "30"));
    await settle();
    void finding.loadMore();
    asked[1]?.fail("away");
    await settle();
    expect([seqs(finding), finding.error]).toEqual([[1], "away"]);
    void finding.retry();
    asked[2]?.answer(found([2]));
    await settle();
    expect([seqs(finding), finding.error, asked[2]?.after]).toEqual([[1, 2], null, "30"]);
  });

  it("that failed is asked once more when that is wished for", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    asked[0]?.fail("away");
    await settle();
    void finding.retry();
    expect(finding.isSearching).toBe(true);
    asked[1]?.answer(found([1]));
    await settle();
    expect([seqs(finding), finding.error, asked[1]?.text]).toEqual([[1], null, "one"]);
  });

  it("shows nothing twice that moved to a later page", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    asked[0]?.answer(found([1, 2], "30"));
    await settle();
    void finding.loadMore();
    asked[1]?.answer(found([2, 3]));
    await settle();
    expect(seqs(finding)).toEqual([1, 2, 3]);
  });

  it("forgets everything once nothing is looked for", async () => {
    const { ask, asked } = server();
    const finding = new Search(ask);
    finding.setQuery("one");
    await vi.advanceTimersByTimeAsync(120);
    finding.clear();
    asked[0]?.answer(found([1]));
    await settle();
    expect([seqs(finding), finding.answeredQuery, finding.isSearching]).toEqual([[], "", false]);
  });
});
