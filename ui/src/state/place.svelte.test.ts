import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

beforeAll(() => {
  vi.stubGlobal("location", new URL("http://localhost/c/%E0"));
  vi.stubGlobal("document", new EventTarget());
  vi.stubGlobal("addEventListener", () => undefined);
});
afterAll(() => void vi.unstubAllGlobals());

describe("an address", () => {
  it("is where somebody is", async () => {
    const { view } = await import("./place.svelte.ts");
    expect(view("/")).toEqual({ name: "new" });
    expect(view("/c/a%20b", "#m7")).toEqual({ name: "conversation", id: "a b", seq: 7 });
    expect(view("/settings/model")).toEqual({ name: "page", page: "settings", rest: ["model"] });
    expect(view("/nowhere")).toEqual({ name: "missing" });
  });

  it("that is cut off leads nowhere, and is no blank page", async () => {
    const { place, view } = await import("./place.svelte.ts");
    expect(["/c/%E0", "/c/50%"].map((path) => view(path))).toEqual([{ name: "missing" }, { name: "missing" }]);
    expect(place.view).toEqual({ name: "missing" });
  });
});
