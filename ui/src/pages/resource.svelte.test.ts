import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FeedEvent } from "../api/feed.ts";
import type { EventKind } from "../api/schema.ts";
import type { FeedListener } from "../state/app.svelte.ts";

vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
vi.stubGlobal("document", { documentElement: { dataset: {} }, addEventListener: () => undefined });
const { app } = await import("../state/app.svelte.ts");
const { Resource } = await import("./resource.svelte.ts");
const { PagedResource } = await import("./lists/paged_resource.svelte.ts");

const listeners = new Set<FeedListener>();
const hear = app.subscribe.bind(app);
app.subscribe = (listener) => {
  listeners.add(listener);
  const unsubscribe = hear(listener);
  return () => (listeners.delete(listener), unsubscribe());
};
const event = (kind: EventKind): FeedEvent => ({ kind, session_id: null, revision: 1, subject: null, at: "" });
const tell = (say: (listener: FeedListener) => void): void => listeners.forEach(say);
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a reading", () => {
  it("is read anew for its own news, and no more once it is ended", async () => {
    let reads = 0;
    const resource = new Resource(() => Promise.resolve(++reads), ["job.changed"], 1000);
    const end = resource.start();
    await settle();
    tell((listener) => listener.onEvent?.(event("settings.changed")));
    await vi.advanceTimersByTimeAsync(2000);
    expect(resource.data).toBe(1);
    for (const _ of [1, 2, 3]) tell((listener) => listener.onEvent?.(event("job.changed")));
    await vi.advanceTimersByTimeAsync(2000);
    expect(resource.data).toBe(3);
    tell((listener) => listener.onReload?.());
    await settle();
    expect(resource.data).toBe(4);
    end();
    expect(listeners.size).toBe(0);
  });

  it("keeps what it has when it fails, and is read once the connection is back", async () => {
    const ask = vi.fn().mockResolvedValueOnce("old").mockRejectedValueOnce(new TypeError("away")).mockResolvedValue("new");
    const resource = new Resource<string>(ask);
    const end = resource.start();
    await settle();
    tell((listener) => listener.onReconnect?.());
    await settle();
    expect(ask).toHaveBeenCalledTimes(1);
    await resource.read();
    expect([resource.data, resource.error]).toEqual(["old", expect.any(TypeError)]);
    tell((listener) => listener.onReconnect?.());
    await settle();
    expect([resource.data, resource.error]).toEqual(["new", null]);
    end();
  });

  it("never shows an older answer after a newer one", async () => {
    const answers: ((text: string) => void)[] = [];
    const resource = new Resource(() => new Promise<string>((resolve) => answers.push(resolve)));
    const both = [resource.read(), settle().then(() => resource.read())];
    await settle();
    answers[0]?.("first");
    await settle();
    answers[1]?.("second");
    await Promise.all(both);
    expect(resource.data).toBe("second");
  });
});

/** A list of the server; each portion ends where it was asked to. */
function served(length: number) {
  const asked: [after: string | null, most: number][] = [];
  const state = { length, isAway: false, asked };
  const ask = async (after: string | null, most: number) => {
    asked.push([after, most]);
    if (state.isAway) throw new TypeError("away");
    const from = Number(after ?? 0);
    const items = Array.from({ length: Math.min(most, state.length - from) }, (_, at) => from + at);
    return { data: { items, next: from + items.length < state.length ? String(from + items.length) : null } };
  };
  return { state, list: new PagedResource<number>(ask) };
}

describe("a list", () => {
  it("shows a portion, then one more, each line once", async () => {
    const { state, list } = served(120);
    await list.read();
    expect([list.data?.length, list.hasMore]).toEqual([50, true]);
    await Promise.all([list.showMore(), list.showMore()]);
    expect([list.data?.length, list.hasMore, list.isBusy]).toEqual([100, true, false]);
    await list.showMore();
    expect([new Set(list.data).size, list.data?.length, list.hasMore]).toEqual([120, 120, false]);
    await list.showMore();
    expect(state.asked).toEqual([[null, 50], [null, 100], [null, 150]]);
  });

  it("shows more also while it is read anew", async () => {
    const { list } = served(120);
    await list.read();
    await Promise.all([list.read(), list.showMore(), list.read()]);
    expect(list.data?.length).toBe(100);
    await list.read();
    expect(list.data?.length).toBe(100);
  });

  it("has no line twice where the rest went while more was asked for", async () => {
    const { state, list } = served(120);
    await list.read();
    state.length = 40;
    await Promise.all([list.read(), list.showMore()]);
    expect([list.data?.length, new Set(list.data).size, list.hasMore]).toEqual([40, 40, false]);
  });

  it("tells that more could not be had, until it could", async () => {
    const { state, list } = served(120);
    await list.read();
    state.isAway = true;
    await list.showMore();
    await list.showMore();
    expect([list.data?.length, list.error]).toEqual([50, expect.any(TypeError)]);
    state.isAway = false;
    await list.showMore();
    expect([list.data?.length, list.error]).toEqual([100, null]);
  });

  it("asks again for what a server does not answer at once", async () => {
    const { state, list } = served(260);
    await list.read();
    for (const _ of [1, 2, 3, 4]) await list.showMore();
    state.asked.length = 0;
    await list.read();
    expect(list.data?.length).toBe(250);
    expect(state.asked).toEqual([[null, 200], ["200", 50]]);
  });
});
