import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const reload = vi.fn();
let isThere = true;

async function renew(): Promise<number> {
  const { renewOnce } = await import("./renewal.ts");
  await renewOnce();
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
    const { hub } = await import("./hub.svelte.ts");
    hub.reach = "gone";
    expect(await renew()).toBe(1);
    hub.reach = "here";
  });

  it("stays if the server is away, also where nobody has noticed that yet", async () => {
    const { hub } = await import("./hub.svelte.ts");
    hub.reach = "here";
    isThere = false;
    expect(await renew()).toBe(0);
    isThere = true;
    hub.reach = "away";
    expect(await renew()).toBe(0);
    hub.reach = "here";
    expect(await renew()).toBe(1);
  });
});
