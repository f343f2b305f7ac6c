import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { app, type FeedListener } from "../../state/app.svelte.ts";
import { SessionDetails } from "./session_details.svelte.ts";

let broken: readonly string[] = [];
let listener: FeedListener = {};

beforeEach(() => {
  vi.stubGlobal("fetch", async (address: string) => {
    if (broken.some((part) => address.includes(part))) throw new TypeError("away");
    return Response.json({ items: [] });
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

it("reads what could not be read once the connection is back, and no longer tells that it could not", async () => {
  broken = ["context", "policy"];
  const facts = new SessionDetails("one");
  await vi.waitFor(() => expect(facts.isUnread).toBe(true));
  broken = ["policy"];
  listener.onReconnect?.();
  await vi.waitFor(() => expect(facts.context).not.toBeNull());
  expect(facts.isUnread).toBe(true);
  broken = [];
  listener.onReconnect?.();
  await vi.waitFor(() => expect(facts.isUnread).toBe(false));
  facts.close();
});
