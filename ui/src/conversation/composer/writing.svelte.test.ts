import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import type { Writing } from "./writing.svelte.ts";

let shelf = new Map<string, string>();
let told: string[] = [];

beforeEach(() => {
  [shelf, told] = [new Map(), []];
  vi.stubGlobal("fetch", async (_: string, how: RequestInit = {}) => {
    if (how.method === "PUT") told.push((JSON.parse(String(how.body)) as { text: string }).text);
    return Response.json({ items: [] });
  });
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => shelf.get(key) ?? null,
    setItem: (key: string, text: string) => void shelf.set(key, text),
    removeItem: (key: string) => void shelf.delete(key),
    key: (at: number) => [...shelf.keys()][at] ?? null,
    get length() {
      return shelf.size;
    },
  });
  const account = { key: 1, name: "Ann", role: "owner" as const, profile: null, has_password: true, made_at: "", revision: "" };
  hub.me = { account, sender_id: "ann", scopes: [], login: 1, csrf: "word" };
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function writingIn(id: string | null): Promise<Writing> {
  const { Writing } = await import("./writing.svelte.ts");
  return new Writing(id);
}

function keep(ticket: string, name: string, at: string): void {
  shelf.set(`files:1:main:one:${ticket}`, JSON.stringify({ ticket, name, at }));
}

describe("what is being written", () => {
  it("has its files again where it was left, and only there", async () => {
    keep("t", "cat.png", new Date().toISOString());
    expect((await writingIn("one")).uploads.names).toEqual(["cat.png"]);
    expect((await writingIn("two")).uploads.names).toEqual([]);
  });

  it("lets go of files that the server has let go of, and says so", async () => {
    const tell = vi.spyOn(notices, "tell");
    keep("t", "cat.png", "2020-01-01T00:00:00Z");
    const writing = await writingIn("one");
    expect([writing.uploads.names, shelf.has("files:1:main:one:t")]).toEqual([[], false]);
    expect(tell).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("cat.png"));
  });

  it("is no draft any more as soon as it is taken out to be sent", async () => {
    const writing = await writingIn("one");
    writing.change("hello");
    await writing.flush();
    writing.take();
    await vi.waitFor(() => expect(told).toEqual(["hello", ""]), { timeout: 200 });
  });
});
