import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { app, type FeedListener } from "../../state/app.svelte.ts";

let names: string[] = [];
let asked = 0;
let listener: FeedListener = {};

beforeEach(() => {
  asked = 0;
  vi.stubGlobal("fetch", async () => {
    asked++;
    return Response.json({ items: names.map((name) => ({ name })) });
  });
  vi.spyOn(app, "subscribe").mockImplementation((one) => {
    listener = one;
    return () => undefined;
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it("reads the models anew when the settings change, but only if somebody wanted to know them", async () => {
  const { models } = await import("./models.svelte.ts");
  const change = (): void =>
    listener.onEvent?.({ kind: "settings.changed", session_id: null, revision: 0, subject: null, at: "" });
  change();
  names = ["one"];
  models.read();
  await vi.waitFor(() => expect(models.all.map(({ name }) => name)).toEqual(["one"]));
  models.read();
  names = ["one", "two"];
  change();
  await vi.waitFor(() => expect(models.all.map(({ name }) => name)).toEqual(["one", "two"]));
  expect(asked).toBe(2);
});
