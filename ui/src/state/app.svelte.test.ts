import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { MeView } from "../api/schema.ts";

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

const who = (key: number, csrf: string): MeView => ({
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
  const { AppState } = await import("./app.svelte.ts");
  return new AppState();
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
    const app = await make();
    await app.start();
    const onReconnect = vi.fn();
    const onEvent = vi.fn();
    app.subscribe({ onReconnect, onEvent });
    Source.all[0]?.say("hello");
    Source.all[0]?.say("event", { kind: "turn.done" }, "0.7");
    page.turn(true);
    await settle(4000);
    expect(open()).toHaveLength(1);
    await settle(2000);
    expect([open().length, app.connectionState]).toEqual([0, "online"]);
    page.turn(false);
    await settle();
    expect(open().map(({ address }) => address)).toEqual(["/api/feed?profile=main&after=0.7"]);
    expect(onReconnect).not.toHaveBeenCalled();
    Source.all[1]?.say("hello");
    expect([onReconnect.mock.calls.length, onEvent.mock.calls.length]).toEqual([1, 1]);
  });

  it("keeps its connection if it is seen again soon", async () => {
    const app = await make();
    await app.start();
    Source.all[0]?.say("hello");
    page.turn(true);
    await settle(4000);
    page.turn(false);
    await settle(60_000);
    expect([open().length, Source.all.length]).toEqual([1, 1]);
  });

  it("takes none if it was opened beside the others, and is ready all the same", async () => {
    page.hidden = true;
    const app = await make();
    await app.start();
    expect([Source.all.length, app.connectionState]).toEqual([0, "online"]);
    app.streamSessions(["a"]);
    expect(Source.all).toHaveLength(0);
    page.turn(false);
    await settle();
    expect(Source.all.map(({ address }) => address)).toEqual(["/api/feed?profile=main&after=0.1&live=a"]);
  });

  it("looks on for a server that is away: words may wait here", async () => {
    const app = await make();
    await app.start();
    Source.all[0]?.say("hello");
    Source.all[0]?.dispatchEvent(new Event("error"));
    page.turn(true);
    await settle(60_000);
    expect([open().length, app.connectionState]).toEqual([1, "offline"]);
    Source.all[0]?.say("hello");
    expect(app.connectionState).toBe("online");
    await settle(5000);
    expect(open()).toHaveLength(0);
  });
});

describe("a connection that was away", () => {
  it("is told when it is back, not when it is there at first", async () => {
    const app = await make();
    const onReconnect = vi.fn();
    app.subscribe({ onReconnect });
    await app.start();
    Source.all[0]?.say("hello");
    expect(onReconnect).not.toHaveBeenCalled();
    Source.all[0]?.dispatchEvent(new Event("error"));
    Source.all[0]?.say("hello");
    expect([onReconnect.mock.calls.length, app.connectionState]).toEqual([1, "online"]);
  });
});

describe("another login in the same browser", () => {
  const change = async (app: Awaited<ReturnType<typeof make>>) =>
    await app.client.call("stop_session", { path: { id: "a" } });

  it("gives this tab its word, with which a change is asked for once more", async () => {
    const app = await make();
    await app.start();
    me = who(1, "second");
    const sent: (string | null)[] = [];
    answer = (path, headers) => {
      if (!path.endsWith("/stop")) return null;
      sent.push(headers.get("X-CSRF-Token"));
      return sent.at(-1) === "second" ? Response.json({}) : refused(403);
    };
    await change(app);
    await change(app);
    expect(sent).toEqual(["first", "second", "second"]);
  });

  it("changes nothing about what is refused for another reason", async () => {
    const app = await make();
    await app.start();
    answer = (path) => (path.endsWith("/stop") ? refused(403) : null);
    await expect(change(app)).rejects.toMatchObject({ status: 403 });
    expect(asked.filter((path) => path.endsWith("/stop"))).toHaveLength(1);
  });

  it("of somebody else leaves nothing of the first one on the page, and does nothing in their name", async () => {
    const app = await make();
    await app.start();
    me = who(2, "theirs");
    answer = (path) => (path.endsWith("/stop") ? refused(403) : null);
    await expect(change(app)).rejects.toMatchObject({ status: 403 });
    expect(assign.mock.calls).toEqual([["/"]]);
    expect([app.me?.account.key, asked.filter((path) => path.endsWith("/stop")).length]).toEqual([1, 1]);
  });

  it("of somebody else at the door of this page loads it anew", async () => {
    const app = await make();
    await app.start();
    app.markLoggedOut();
    me = who(2, "theirs");
    await app.start();
    expect([assign.mock.calls, app.me]).toEqual([[["/"]], null]);
  });

  it("ends the one before, which is no reason to show the door", async () => {
    const app = await make();
    await app.start();
    Source.all[0]?.say("hello");
    me = who(1, "second");
    Source.all[0]?.say("bye", { why: "logged out" });
    await settle();
    expect([app.connectionState, app.me?.csrf, open().length]).toEqual(["online", "second", 1]);
    answer = (path) => (path === "/api/me" ? refused(401) : null);
    open()[0]?.say("bye", { why: "logged out" });
    await settle();
    expect([app.connectionState, app.me, open().length]).toEqual(["loggedOut", null, 0]);
  });
});

describe("another profile", () => {
  it("is looked at only if its state can be read", async () => {
    const app = await make();
    const onReload = vi.fn();
    app.subscribe({ onReload });
    await app.start();
    answer = (path) => (path.startsWith("/api/snapshot") ? refused(500) : null);
    await expect(app.setProfile("other")).rejects.toMatchObject({ status: 500 });
    expect([app.profile, onReload.mock.calls.length, open().length]).toEqual(["main", 0, 1]);
    answer = null;
    await app.setProfile("other");
    expect([app.profile, onReload.mock.calls.length, open()[0]?.address]).toEqual([
      "other",
      1,
      "/api/feed?profile=other&after=0.1",
    ]);
  });

  it("is looked at if a link leads to a session in it, and stays unless it is known", async () => {
    const app = await make();
    await app.start();
    const sessions = new Map([["a", "other"], ["b", "other"], ["c", "elsewhere"]]);
    answer = (path) => {
      const profile = sessions.get(path.split("/").at(-1) ?? "");
      return profile ? Response.json({ profile }) : null;
    };
    const seen: string[] = [];
    for (const id of sessions.keys()) {
      await app.openProfileOf(id);
      seen.push(app.profile);
    }
    expect(seen).toEqual(["other", "other", "other"]);
    expect(asked.filter((path) => path.startsWith("/api/snapshot"))).toHaveLength(2);
  });
});
