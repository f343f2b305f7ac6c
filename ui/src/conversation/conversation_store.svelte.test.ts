import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Problem } from "../api/client.ts";
import type { FeedEvent } from "../api/feed.ts";
import type { MessageView } from "../api/schema.ts";
import { app, type FeedListener } from "../state/app.svelte.ts";
import type { ConversationStore } from "./conversation_store.svelte.ts";

/** A server with one conversation, which begins with the first words. */
class Server {
  asked: string[] = [];
  bodies: Record<string, unknown>[] = [];
  keys = new Set<string | null>();
  lines: MessageView[] = [];
  platform = "local";
  /** The session in which words are taken. */
  successor = "one";
  isUnread = false;
  isGone = false;
  turn = { id: 7, state: "done" };
  /** What is asked for by these words fails. */
  broken: string[] = [];
  /** What is asked for by these words waits. */
  gates = new Map<string, Promise<void>>();

  fetch = async (address: string, how: RequestInit = {}): Promise<Response> => {
    const asked = `${how.method ?? "GET"} ${address.split("?")[0]}`;
    this.asked.push(asked);
    if (how.method === "POST") this.keys.add(new Headers(how.headers).get("Idempotency-Key"));
    for (const [part, gate] of this.gates) if (asked.includes(part)) await gate;
    if (this.broken.some((part) => asked.includes(part))) return Response.json({ detail: "broken" }, { status: 502 });
    if (how.method === "POST") this.bodies.push(JSON.parse(String(how.body)) as Record<string, unknown>);
    return Response.json(this.#answer(asked, address));
  };

  say(role: MessageView["role"], text: string, turn_id: number | null = null): void {
    const seq = this.lines.length + 1;
    const parts = [{ type: "text" as const, text }];
    const rest = { sender_id: null, sender_name: null, arrived_at: null, changed_at: null, deleted_at: null };
    this.lines.push({ key: seq, session_id: "one", seq, role, parts, at: "2026-01-31T18:45:00Z", turn_id, ...rest });
  }

  #answer(asked: string, address: string): unknown {
    if (asked === "GET /api/sessions") return { items: this.isGone ? [] : [this.#row()] };
    if (asked === "POST /api/sessions") return { session_id: "one" };
    if (asked === "POST /api/sessions/one/messages") return { session_id: this.successor };
    if (asked === "PUT /api/sessions/one/mark") return { seq: 3 };
    if (asked === "GET /api/turns/7") return this.turn;
    if (!asked.startsWith("GET /api/sessions/one/messages")) return { items: [], children: [] };
    const after = Number(new URL(address, "http://here").searchParams.get("after") ?? 0);
    return { items: this.lines.filter(({ seq }) => (seq ?? 0) > after), before: null, after: null };
  }

  #row(): unknown {
    const session = { id: "one", revision: 1, platform: this.platform, last_seq: this.lines.length };
    return { session, is_unread: this.isUnread, is_read_only: false };
  }
}

let server = new Server();
let storage = new Map<string, string>();
let listeners: FeedListener[] = [];
let conversations: ConversationStore[] = [];

beforeEach(() => {
  [server, storage, listeners, conversations] = [new Server(), new Map(), [], []];
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal("document", { documentElement: { dataset: {} }, visibilityState: "visible" });
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, text: string) => void storage.set(key, text),
    removeItem: (key: string) => void storage.delete(key),
    key: (at: number) => [...storage.keys()][at] ?? null,
    get length() {
      return storage.size;
    },
  });
  vi.spyOn(app, "subscribe").mockImplementation((listener) => {
    listeners.push(listener);
    return () => void (listeners = listeners.filter((one) => one !== listener));
  });
  enter(1);
});

afterEach(() => {
  for (const conversation of conversations) {
    for (const { key } of conversation.pending) conversation.discard(key);
    conversation.close();
  }
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function enter(key: number): void {
  const account = { key, name: "Ann", role: "owner" as const, profile: null, has_password: true, made_at: "", revision: "" };
  app.me = { account, sender_id: "ann", scopes: [], login: 1, csrf: "word" };
}

async function talkTo(id: string | null, onBegun?: (id: string) => void): Promise<ConversationStore> {
  const { ConversationStore } = await import("./conversation_store.svelte.ts");
  const conversation = new ConversationStore(id, onBegun);
  conversations.push(conversation);
  return conversation;
}

const said = (text: string) => ({ text, tickets: [], speech: null });
const event = (kind: FeedEvent["kind"], subject: number | null = null): void => {
  for (const listener of listeners) listener.onEvent?.({ kind, session_id: "one", revision: 1, subject, at: "" });
};
const count = (asked: string): number => server.asked.filter((one) => one === asked).length;
/** Let something wait until the answer is called. */
const gate = (part: string): (() => void) => {
  let open = (): void => undefined;
  server.gates.set(part, new Promise((resolve) => (open = resolve)));
  return () => (server.gates.delete(part), open());
};

describe("a conversation that begins", () => {
  it("is one, also if somebody sends twice before it is there", async () => {
    const begun: string[] = [];
    const conversation = await talkTo(null, (id) => begun.push(id));

    await Promise.all([conversation.send(said("first")), conversation.send(said("second"))]);

    expect([count("POST /api/sessions"), count("POST /api/sessions/one/messages")]).toEqual([1, 1]);
    expect(server.bodies.map(({ text }) => text)).toEqual(["first", "second"]);
    expect([begun, conversation.id, conversation.pending]).toEqual([["one"], "one", []]);
  });

  it("takes along what was written since the first words", async () => {
    const conversation = await talkTo(null);
    const open = gate("POST /api/sessions");
    conversation.composer.change("first");
    const sent = conversation.send({ ...conversation.composer.take(), speech: null });
    conversation.composer.change("and then");
    open();
    await sent;

    expect(conversation.composer.text).toBe("and then");
    expect([...storage].filter(([key]) => key.startsWith("draft:1:main:one"))).toHaveLength(1);
    expect([...storage.keys()].filter((key) => key.startsWith("unsent"))).toEqual([]);
  });

  it("does not bring back whoever went elsewhere", async () => {
    const onBegun = vi.fn();
    const conversation = await talkTo(null, onBegun);
    const open = gate("POST /api/sessions");
    const sent = conversation.send(said("first"));
    await Promise.resolve();
    conversation.close();
    open();
    await sent;

    expect(onBegun).not.toHaveBeenCalled();
    expect(listeners).toEqual([]);
  });

  it("finds again what could not be sent, once, under the key that it had", async () => {
    server.broken = ["POST /api/sessions"];
    const conversation = await talkTo(null);
    await conversation.send(said("first"));
    conversation.close();
    server.broken = [];

    const again = await talkTo(null);
    expect(again.pending.map(({ text }) => text)).toEqual(["first"]);
    expect(again.composer.text).toBe("");
    await again.handleReconnect();

    expect([again.id, again.pending, storage.size]).toEqual(["one", [], 0]);
    expect([count("POST /api/sessions"), server.keys.size]).toEqual([2, 1]);
  });
});

describe("words", () => {
  it("are for the people on a platform, also if they are sent before it is known that it is one", async () => {
    server.platform = "telegram";
    const conversation = await talkTo("one");
    expect(conversation.defaultSpeech).toBeNull();

    await conversation.send(said("On its way"));

    expect(server.bodies).toMatchObject([{ text: "On its way", speech: "answer" }]);
  });

  it("wait where nobody can know for whom they are", async () => {
    server.broken = ["GET /api/sessions"];
    const conversation = await talkTo("one");
    await conversation.send(said("On its way"));
    expect([conversation.pending.length, count("POST /api/sessions/one/messages")]).toEqual([1, 0]);
  });

  it("lead to the session that took the place of a suspended one", async () => {
    server.successor = "two";
    const went: string[] = [];
    const conversation = await talkTo("one", (id) => went.push(id));

    await conversation.send(said("and the news?"));

    expect(went).toEqual(["two"]);
  });

  it("that are not sent are where one writes again, with their files", async () => {
    server.broken = ["POST"];
    const conversation = await talkTo("one");
    await conversation.send({ text: "hello", tickets: ["t"], files: ["cat.png"], speech: "ask" });
    conversation.composer.change("and more");

    conversation.discard(conversation.pending[0]?.key ?? "");

    expect([conversation.pending, conversation.composer.text]).toEqual([[], "hello\n\nand more"]);
    expect([conversation.composer.uploads.tickets, conversation.composer.uploads.names]).toEqual([["t"], ["cat.png"]]);
  });

  it("that were not sent for a day are not sent by themselves: the server might not know them again", async () => {
    const unsent = { key: "k", at: "2020-01-01T00:00:00Z", since: 0, said: said("long ago") };
    storage.set("unsent:1:main:one:k", JSON.stringify(unsent));
    const conversation = await talkTo("one");
    expect([conversation.pending, conversation.composer.text]).toEqual([[], "long ago"]);
  });

  it("that somebody has begun to write are nobody else's, and go with their session", async () => {
    (await talkTo("one")).composer.change("for your eyes only");
    enter(2);
    expect((await talkTo("one")).composer.text).toBe("");
    const { clearLocalDrafts } = await import("./composer/local_drafts.ts");
    clearLocalDrafts();
    enter(1);
    expect((await talkTo("one")).composer.text).toBe("for your eyes only");
    clearLocalDrafts("one");
    expect([...storage.keys()].filter((key) => key.startsWith("draft"))).toEqual([]);
  });
});

describe("an open conversation", () => {
  it("has not been seen before its lines are there", async () => {
    for (let seq = 1; seq <= 30; seq++) server.say("assistant", "unread");
    server.isUnread = true;
    server.broken = ["cuts"];
    const conversation = await talkTo("one");
    await conversation.open(5);
    conversation.setVisible(1, true);
    await vi.waitFor(() => expect(conversation.readBefore).toBe(3));
    expect([conversation.scrollTarget, conversation.error]).toEqual([null, expect.any(Problem)]);
    expect(count("PUT /api/sessions/one/mark")).toBe(1);

    server.broken = [];
    await conversation.handleReconnect();

    expect(conversation.scrollTarget).toEqual({ at: "line", seq: 5 });
    expect(conversation.error).toBeNull();
  });

  it("tells whoever comes back to the window from where on much was said", async () => {
    server.say("user", "hello");
    const conversation = await talkTo("one");
    await conversation.open();
    conversation.setVisible(1, true);
    vi.stubGlobal("document", { documentElement: { dataset: {} }, visibilityState: "hidden" });
    conversation.setVisible(1, true);
    for (let seq = 2; seq <= 30; seq++) server.say("assistant", "meanwhile");
    event("message.added", 30);
    await vi.waitFor(() => expect(conversation.lines).toHaveLength(30));
    conversation.setVisible(1, true);
    expect([conversation.readBefore, count("PUT /api/sessions/one/mark")]).toEqual([null, 0]);

    vi.stubGlobal("document", { documentElement: { dataset: {} }, visibilityState: "visible" });
    conversation.setVisible(1, true);

    expect(conversation.readBefore).toBe(1);
    await vi.waitFor(() => expect(count("PUT /api/sessions/one/mark")).toBe(1));
  });

  it("on a platform is for the people there, but for the agent while it waits for an answer", async () => {
    server.platform = "telegram";
    const conversation = await talkTo("one");
    await conversation.open();
    expect(conversation.defaultSpeech).toBe("answer");

    server.turn = { id: 7, state: "waiting" };
    event("turn.waiting", 7);
    await vi.waitFor(() => expect(conversation.defaultSpeech).toBe("ask"));

    server.turn = { id: 7, state: "done" };
    event("turn.done", 7);
    await vi.waitFor(() => expect(conversation.defaultSpeech).toBe("answer"));
  });

  it("keeps what is being said on the screen until its line can be read", async () => {
    const conversation = await talkTo("one");
    await conversation.open();
    const delta = { session_id: "one", turn_id: 7, kind: "text" as const, offset: 0, text: "The answer" };
    for (const listener of listeners) listener.onDelta?.(delta);
    server.say("assistant", "The answer, in the end", 7);
    server.broken = ["messages"];
    event("turn.done", 7);
    await vi.waitFor(() => expect(server.asked.filter((one) => one.endsWith("messages")).length).toBeGreaterThan(1));
    expect([conversation.streamedReply?.text, conversation.lines]).toEqual(["The answer", []]);

    server.broken = [];
    for (const listener of listeners) listener.onReconnect?.();

    await vi.waitFor(() => expect(conversation.lines).toHaveLength(1));
    expect(conversation.streamedReply).toBeNull();
  });

  it("leaves nothing on the screen of a session that is gone", async () => {
    server.say("user", "a secret");
    const conversation = await talkTo("one");
    await conversation.open();
    conversation.composer.change("about it");
    server.isGone = true;
    for (const listener of listeners) listener.onReload?.();

    await vi.waitFor(() => expect(conversation.error).toBeInstanceOf(Problem));
    expect([conversation.row, conversation.lines]).toEqual([null, []]);
    expect([...storage.keys()].filter((key) => key.startsWith("draft"))).toEqual([]);
  });
});
