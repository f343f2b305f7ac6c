import { describe, expect, it } from "vitest";
import { Client } from "../api/client.ts";
import type { ChildView } from "../api/schema.ts";
import { ConversationApi, listForks } from "./conversation_api.ts";

const child = (id: string, change: Partial<ChildView>): ChildView => ({
  id,
  cause: "branch",
  title: null,
  base_seq: null,
  opened_at: "2026-01-31T12:00:00Z",
  ...change,
});

describe("forksOf", () => {
  it("takes branches, also one that begins with other first words, and nothing else that came of a session", () => {
    const children = [child("a", { base_seq: 3, title: "A" }), child("b", {}), child("c", { cause: "new" })];
    expect(listForks(children)).toEqual([
      { seq: 3, id: "a", title: "A" },
      { seq: 0, id: "b", title: null },
    ]);
  });
});

/** A server whose turns are told in pages, the newest first. */
function api(states: readonly string[], asked: string[] = []): ConversationApi {
  const fetch = async (address: string): Promise<Response> => {
    const { searchParams } = new URL(address, "http://here");
    const [from, most] = [Number(searchParams.get("after") ?? 0), Number(searchParams.get("most"))];
    asked.push(String(from));
    const items = states.slice(from, from + most).map((state, at) => ({ id: states.length - from - at, state }));
    return Response.json({ items, next: from + most < states.length ? String(from + most) : null });
  };
  return new ConversationApi(new Client({ csrf: () => null, fetch: fetch as typeof globalThis.fetch }), "a", "main");
}

describe("turns", () => {
  it("are read as far back as the one that all others wait for", async () => {
    const states = [...Array<string>(100).fill("queued"), "running", ...Array<string>(100).fill("done")];
    const turns = await api(states).listTurns();
    expect([...turns.values()].find(({ state }) => state === "running")?.id).toBe(101);
  });

  it("are read once where none waits", async () => {
    const asked: string[] = [];
    await api(Array<string>(100).fill("done"), asked).listTurns();
    expect(asked).toEqual(["0"]);
  });
});
