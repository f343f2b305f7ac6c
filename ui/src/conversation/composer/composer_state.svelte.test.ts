import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../state/app.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import type { ComposerState } from "./composer_state.svelte.ts";

let storage = new Map<string, string>();
let told: string[] = [];

beforeEach(() => {
  [storage, told] = [new Map(), []];
  vi.stubGlobal("fetch", async (_: string, how: RequestInit = {}) => {
    if (how.method === "PUT") told.push((JSON.parse(String(how.body)) as { text: string }).text);
    return Response.json({ items: [] });
  });
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, text: string) => void storage.set(key, text),
    removeItem: (key: string) => void storage.delete(key),
    key: (at: number) => [...storage.keys()][at] ?? null,
    get length() {
      return storage.size;
    },
  });
  const account = { key: 1, name: "Ann", role: "owner" as const, profile: null, has_password: true, made_at: "", revision: "" };
  app.me = { account, sender_id: "ann", scopes: [], login: 1, csrf: "word" };
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function writingIn(id: string | null): Promise<ComposerState> {
  const { ComposerState } = await import("./composer_state.svelte.ts");
  return new ComposerState(id);
}

function keep(ticket: string, name: string, at: string): void {
  storage.set(`files:1:main:one:${ticket}`, JSON.stringify({ ticket, name, at }));
}

describe("what is being written", () => {
  it("has its files again where it was left, and only there", async () => {
    keep("t", "cat.png", new Date().toISOString());
    expect((await writingIn("one")).uploads.names).toEqual(["cat.png"]);
    expect((await writingIn("two")).uploads.names).toEqual([]);
  });

  it("lets go of files that the server has let go of, and says so", async () => {
    const tell = vi.spyOn(notices, "show");
    keep("t", "cat.png", "2020-01-01T00:00:00Z");
    const composer = await writingIn("one");
    expect([composer.uploads.names, storage.has("files:1:main:one:t")]).toEqual([[], false]);
    expect(tell).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("cat.png"));
  });

  it("is no draft any more as soon as it is taken out to be sent", async () => {
    const composer = await writingIn("one");
    composer.change("hello");
    await composer.flush();
    composer.take();
    await vi.waitFor(() => expect(told).toEqual(["hello", ""]), { timeout: 200 });
  });
});
