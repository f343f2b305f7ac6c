import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { hub, type Ear } from "../../state/hub.svelte.ts";
import { Facts } from "./facts.svelte.ts";

let broken: readonly string[] = [];
let ear: Ear = {};

beforeEach(() => {
  vi.stubGlobal("fetch", async (address: string) => {
    if (broken.some((part) => address.includes(part))) throw new TypeError("away");
    return Response.json({ items: [] });
  });
  vi.spyOn(hub, "hear").mockImplementation((one) => {
    ear = one;
    return () => undefined;
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it("reads what could not be read once the connection is back, and no longer tells that it could not", async () => {
  broken = ["context", "policy"];
  const facts = new Facts("one");
  await vi.waitFor(() => expect(facts.isUnread).toBe(true));
  broken = ["policy"];
  ear.onBack?.();
  await vi.waitFor(() => expect(facts.context).not.toBeNull());
  expect(facts.isUnread).toBe(true);
  broken = [];
  ear.onBack?.();
  await vi.waitFor(() => expect(facts.isUnread).toBe(false));
  facts.close();
});
