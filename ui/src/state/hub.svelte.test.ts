import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Me } from "../api/schema.ts";

/** A feed that says what it is told to say. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static all: Source[] = [];
  readyState = 1;

  constructor(readonly address: string) {
    super();
    Source.all.push(this);
  }

  say(name: string, data: unknown = {}, lastEventId = ""): void {
    this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(data), lastEventId }));
  }

  close(): void {
    this.readyState = Source.CLOSED;
  }
}

class Page extends EventTarget {
  hidden = false;

  turn(isHidden: boolean): void {
    this.hidden = isHidden;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

type Answer = (address: string, headers: Headers) => Response | null;

const who = (key: number, csrf: string): Me => ({
  account: { key, name: "a", role: "owner", profile: null, has_password: true, made_at: "", revision: "" },
  sender_id: "",
  scopes: [],
  login: 1,
  csrf,
});
let page = new Page();
let me = who(1, "first");
let asked: string[] = [];
let answer: Answer | null = null;
const assign = vi.fn();

function fetched(address: string, how?: RequestInit): Response {
  const path = address.split("?")[0] ?? "";
  asked.push(path);
  const given = answer?.(address, new Headers(how?.headers));
  if (given) return given;
  if (path === "/api/me") return Response.json(me);
  if (path === "/api/profiles") return Response.json({ items: [{ name: "main", is_main: true }, { name: "other" }] });
  if (path === "/api/snapshot") return Response.json({ cursor: "0.1", sessions: {} });
  return Response.json({});
}

async function make() {
  const { Hub } = await import("./hub.svelte.ts");
  return new Hub();
}

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const open = (): Source[] => Source.all.filter(({ readyState }) => readyState !== Source.CLOSED);
const refused = (status: number): Response => Response.json({ detail: "no" }, { status });

beforeEach(() => {
  vi.useFakeTimers();
  page = new Page();
  me = who(1, "first");
  [asked, answer, Source.all] = [[], null, []];
  assign.mockReset();
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("document", page);
  vi.stubGlobal("location", { assign });
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: vi.fn() });
  vi.stubGlobal("fetch", async (address: string, how?: RequestInit) => fetched(address, how));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a tab that nobody sees", () => {
  it("holds no connection, and goes on where it was", async () => {
    const hub = await make();
    await hub.start();
    const onBack = vi.fn();
    const onEvent = vi.fn();
    hub.hear({ onBack, onEvent });
    Source.all[0]?.say("hello");
    Source.all[0]?.say("event", { kind: "turn.done" }, "0.7");
    page.turn(true);
    await settle(4000);
    expect(open()).toHaveLength(1);
    await settle(2000);
    expect([open().length, hub.reach]).toEqual([0, "here"]);
    page.turn(false);
    await settle();
    expect(open().map(({ address }) => address)).toEqual(["/api/feed?profile=main&after=0.7"]);
    expect(onBack).not.toHaveBeenCalled();
    Source.all[1]?.say("hello");
    expect([onBack.mock.calls.length, onEvent.mock.calls.length]).toEqual([1, 1]);
  });

  it("keeps its connection if it is seen again soon", async () => {
    const hub = await make();
    await hub.start();
    Source.all[0]?.say("hello");
    page.turn(true);
    await settle(4000);
    page.turn(false);
    await settle(60_000);
    expect([open().length, Source.all.length]).toEqual([1, 1]);
  });

  it("takes none if it was opened beside the others, and is ready all the same", async () => {
    page.hidden = true;
    const hub = await make();
    await hub.start();
    expect([Source.all.length, hub.reach]).toEqual([0, "here"]);
    hub.listenTo(["a"]);
    expect(Source.all).toHaveLength(0);
    page.turn(false);
    await settle();
    expect(Source.all.map(({ address }) => address)).toEqual(["/api/feed?profile=main&after=0.1&live=a"]);
  });

  it("looks on for a server that is away: words may wait here", async () => {
    const hub = await make();
    await hub.start();
    Source.all[0]?.say("hello");
    Source.all[0]?.dispatchEvent(new Event("error"));
    page.turn(true);
    await settle(60_000);
    expect([open().length, hub.reach]).toEqual([1, "away"]);
    Source.all[0]?.say("hello");
    expect(hub.reach).toBe("here");
    await settle(5000);
    expect(open()).toHaveLength(0);
  });
});

describe("a connection that was away", () => {
  it("is told when it is back, not when it is there at first", async () => {
    const hub = await make();
    const onBack = vi.fn();
    hub.hear({ onBack });
    await hub.start();
    Source.all[0]?.say("hello");
    expect(onBack).not.toHaveBeenCalled();
    Source.all[0]?.dispatchEvent(new Event("error"));
    Source.all[0]?.say("hello");
    expect([onBack.mock.calls.length, hub.reach]).toEqual([1, "here"]);
  });
});

describe("another login in the same browser", () => {
  const change = async (hub: Awaited<ReturnType<typeof make>>) =>
    await hub.client.call("stop_session", { path: { id: "a" } });

  it("gives this tab its word, with which a change is asked for once more", async () => {
    const hub = await make();
    await hub.start();
    me = who(1, "second");
    const sent: (string | null)[] = [];
    answer = (path, headers) => {
      if (!path.endsWith("/stop")) return null;
      sent.push(headers.get("X-CSRF-Token"));
      return sent.at(-1) === "second" ? Response.json({}) : refused(403);
    };
    await change(hub);
    await change(hub);
    expect(sent).toEqual(["first", "second", "second"]);
  });

  it("changes nothing about what is refused for another reason", async () => {
    const hub = await make();
    await hub.start();
    answer = (path) => (path.endsWith("/stop") ? refused(403) : null);
    await expect(change(hub)).rejects.toMatchObject({ status: 403 });
    expect(asked.filter((path) => path.endsWith("/stop"))).toHaveLength(1);
  });

  it("of somebody else leaves nothing of the first one on the page, and does nothing in their name", async () => {
    const hub = await make();
    await hub.start();
    me = who(2, "theirs");
    answer = (path) => (path.endsWith("/stop") ? refused(403) : null);
    await expect(change(hub)).rejects.toMatchObject({ status: 403 });
    expect(assign.mock.calls).toEqual([["/"]]);
    expect([hub.me?.account.key, asked.filter((path) => path.endsWith("/stop")).length]).toEqual([1, 1]);
  });

  it("of somebody else at the door of this page loads it anew", async () => {
    const hub = await make();
    await hub.start();
    hub.leave();
    me = who(2, "theirs");
    await hub.start();
    expect([assign.mock.calls, hub.me]).toEqual([[["/"]], null]);
  });

  it("ends the one before, which is no reason to show the door", async () => {
    const hub = await make();
    await hub.start();
    Source.all[0]?.say("hello");
    me = who(1, "second");
    Source.all[0]?.say("bye", { why: "logged out" });
    await settle();
    expect([hub.reach, hub.me?.csrf, open().length]).toEqual(["here", "second", 1]);
    answer = (path) => (path === "/api/me" ? refused(401) : null);
    open()[0]?.say("bye", { why: "logged out" });
    await settle();
    expect([hub.reach, hub.me, open().length]).toEqual(["gone", null, 0]);
  });
});

describe("another profile", () => {
  it("is looked at only if its state can be read", async () => {
    const hub = await make();
    const onReload = vi.fn();
    hub.hear({ onReload });
    await hub.start();
    answer = (path) => (path.startsWith("/api/snapshot") ? refused(500) : null);
    await expect(hub.choose("other")).rejects.toMatchObject({ status: 500 });
    expect([hub.profile, onReload.mock.calls.length, open().length]).toEqual(["main", 0, 1]);
    answer = null;
    await hub.choose("other");
    expect([hub.profile, onReload.mock.calls.length, open()[0]?.address]).toEqual([
      "other",
      1,
      "/api/feed?profile=other&after=0.1",
    ]);
  });

  it("is looked at if a link leads to a session in it, and stays unless it is known", async () => {
    const hub = await make();
    await hub.start();
    const sessions = new Map([["a", "other"], ["b", "other"], ["c", "elsewhere"]]);
    answer = (path) => {
      const profile = sessions.get(path.split("/").at(-1) ?? "");
      return profile ? Response.json({ profile }) : null;
    };
    const seen: string[] = [];
    for (const id of sessions.keys()) {
      await hub.lookFor(id);
      seen.push(hub.profile);
    }
    expect(seen).toEqual(["other", "other", "other"]);
    expect(asked.filter((path) => path.startsWith("/api/snapshot"))).toHaveLength(2);
  });
});
