import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const reload = vi.fn();
let isThere = true;

async function renew(): Promise<number> {
  const { reloadPageOnce } = await import("./page_reload.ts");
  await reloadPageOnce();
  return reload.mock.calls.length;
}

beforeEach(() => {
  const kept = new Map<string, string>();
  isThere = true;
  reload.mockReset();
  vi.stubGlobal("location", { href: "http://localhost/", reload });
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  vi.stubGlobal("fetch", async () => {
    if (!isThere) throw new TypeError("away");
    return new Response("");
  });
});
afterEach(() => void vi.unstubAllGlobals());

describe("a page of which something is gone", () => {
  it("is loaded anew, once", async () => {
    expect(await renew()).toBe(1);
    expect(await renew()).toBe(1);
  });

  it("is loaded anew at the door, too", async () => {
    const { app } = await import("./app.svelte.ts");
    app.connectionState = "loggedOut";
    expect(await renew()).toBe(1);
    app.connectionState = "online";
  });

  it("stays if the server is away, also where nobody has noticed that yet", async () => {
    const { app } = await import("./app.svelte.ts");
    app.connectionState = "online";
    isThere = false;
    expect(await renew()).toBe(0);
    isThere = true;
    app.connectionState = "offline";
    expect(await renew()).toBe(0);
    app.connectionState = "online";
    expect(await renew()).toBe(1);
  });
});
