import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

beforeAll(() => {
  vi.stubGlobal("location", new URL("http://localhost/c/%E0"));
  vi.stubGlobal("document", new EventTarget());
  vi.stubGlobal("addEventListener", () => undefined);
});
afterAll(() => void vi.unstubAllGlobals());

describe("an address", () => {
  it("is where somebody is", async () => {
    const { parseRoute } = await import("./router.svelte.ts");
    expect(parseRoute("/")).toEqual({ name: "new" });
    expect(parseRoute("/c/a%20b", "#m7")).toEqual({ name: "conversation", id: "a b", seq: 7 });
    expect(parseRoute("/settings/model")).toEqual({ name: "page", page: "settings", rest: ["model"] });
    expect(parseRoute("/nowhere")).toEqual({ name: "missing" });
  });

  it("that is cut off leads nowhere, and is no blank page", async () => {
    const { router, parseRoute } = await import("./router.svelte.ts");
    expect(["/c/%E0", "/c/50%"].map((path) => parseRoute(path))).toEqual([{ name: "missing" }, { name: "missing" }]);
    expect(router.route).toEqual({ name: "missing" });
  });
});
