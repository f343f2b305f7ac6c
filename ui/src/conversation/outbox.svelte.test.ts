import { describe, expect, it } from "vitest";
import { Problem } from "../api/client.ts";
import {
  openOutbox,
  Outbox,
  type OutboxStorage,
  type OutgoingMessage,
  type SendFunction,
  type StoredMessage,
} from "./outbox.svelte.ts";

/** A shelf that outlasts the page. */
class Board implements OutboxStorage {
  kept: StoredMessage[] = [];
  constructor(readonly name = "here") {}

  all = (): readonly StoredMessage[] => this.kept;
  keep = (stored: StoredMessage): void => void this.kept.push(stored);
  drop = (key: string): void => void (this.kept = this.kept.filter((one) => one.key !== key));
}

const said = (text: string): OutgoingMessage => ({ text, tickets: [], speech: "ask" });
const texts = (outbox: Outbox): string[] => outbox.pending.map((one) => one.text);
const away: SendFunction = () => Promise.reject(new TypeError("away"));

describe("an outbox", () => {
  it("shows a line until it has arrived", async () => {
    let arrive = (): void => undefined;
    const outbox = new Outbox(() => new Promise<void>((resolve) => (arrive = resolve)), new Board());
    const sent = outbox.send(said("hello"), 0);
    await Promise.resolve();
    expect(outbox.pending.map((one) => one.text)).toEqual(["hello"]);
    arrive();
    await sent;
    expect(outbox.pending).toEqual([]);
  });

  it("keeps what could not be sent, and sends it again under the same key", async () => {
    const keys: string[] = [];
    let isAway = true;
    const outbox = new Outbox(async (_, key) => {
      keys.push(key);
      if (isAway) throw new TypeError("away");
    }, new Board());
    await outbox.send(said("hello"), 0);
    expect(outbox.pending[0]?.error).toBeInstanceOf(TypeError);

    isAway = false;
    await outbox.resendFailed();

    expect(outbox.pending).toEqual([]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it("sends again what found the server out of order", async () => {
    let tries = 0;
    const outbox = new Outbox(async () => {
      if (++tries < 2) throw new Problem(503, "StorageError", "The store does not work.");
    }, new Board());
    await outbox.send(said("hello"), 0);
    await outbox.resendFailed();
    expect(outbox.pending).toEqual([]);
  });

  it("does not send again by itself what was refused", async () => {
    let tries = 0;
    const outbox = new Outbox(async () => {
      tries++;
      throw new Problem(402, "CapReached", "The cap is reached.");
    }, new Board());
    await outbox.send(said("hello"), 0);
    await outbox.resendFailed();
    expect(tries).toBe(1);
    expect(outbox.pending).toHaveLength(1);
  });

  it("gives the words back that are thrown away", async () => {
    const outbox = new Outbox(away, new Board());
    await outbox.send(said("hello"), 0);
    expect(outbox.discard(outbox.pending[0]?.key ?? "")?.text).toBe("hello");
    expect(outbox.pending).toEqual([]);
  });

  it("sends one after the other, also if somebody is quick", async () => {
    const order: string[] = [];
    const outbox = new Outbox(async ({ text }) => {
      order.push(`${text} begins`);
      await Promise.resolve();
      order.push(`${text} ends`);
    }, new Board());

    await Promise.all([outbox.send(said("first"), 0), outbox.send(said("second"), 0), outbox.resendFailed()]);

    expect(order).toEqual(["first begins", "first ends", "second begins", "second ends"]);
  });

  it("keeps the order where the first did not get through", async () => {
    const arrived: string[] = [];
    let isAway = true;
    const outbox = new Outbox(async ({ text }) => {
      if (isAway) throw new TypeError("away");
      arrived.push(text);
    }, new Board());
    await Promise.all([outbox.send(said("first"), 0), outbox.send(said("second"), 0)]);
    expect(outbox.pending.every(({ error }) => error instanceof TypeError)).toBe(true);

    isAway = false;
    await outbox.send(said("third"), 0);

    expect(arrived).toEqual(["first", "second", "third"]);
  });

  it("goes on after what was refused", async () => {
    const outbox = new Outbox(async ({ text }) => {
      if (text === "too dear") throw new Problem(402, "CapReached", "The cap is reached.");
    }, new Board());

    await Promise.all([outbox.send(said("too dear"), 0), outbox.send(said("cheap"), 0)]);

    expect(texts(outbox)).toEqual(["too dear"]);
  });

  it("outlasts the page, with the keys of its lines", async () => {
    const board = new Board();
    const keys: string[] = [];
    await new Outbox((_, key) => (keys.push(key), away(said(""), key)), board).send(said("hello"), 7);

    const after = new Outbox(async (_, key) => void keys.push(key), board);
    expect(after.pending).toMatchObject([{ text: "hello", since: 7, error: null }]);
    await after.resendFailed();

    expect(new Set(keys).size).toBe(1);
    expect(board.kept).toEqual([]);
  });

  it("is found again by whoever comes back, and never sends the same line twice at once", async () => {
    let arrive = (): void => undefined;
    const carried: string[] = [];
    const transmit: SendFunction = ({ text }) => (carried.push(text), new Promise((resolve) => (arrive = resolve)));
    const board = new Board();
    const outbox = openOutbox(board, transmit);
    const sent = outbox.send(said("under way"), 0);
    outbox.detach();
    await Promise.resolve();

    const again = openOutbox(board, async ({ text }) => void carried.push(text));
    expect(again).toBe(outbox);
    const second = again.send(said("after it"), 0);
    arrive();
    await Promise.all([sent, second]);

    expect(carried).toEqual(["under way", "after it"]);
    expect(openOutbox(board, transmit)).not.toBe(outbox);
  });

  it("keeps what waits behind the first words where those have led", async () => {
    const [nowhere, there] = [new Board("nowhere"), new Board("there")];
    const outbox = new Outbox(async ({ text }, key) => {
      if (text !== "first") throw new TypeError("away");
      outbox.setSession(key, "there");
      outbox.move(there);
    }, nowhere);

    await Promise.all([outbox.send(said("first"), 0), outbox.send(said("second"), 0)]);

    expect([nowhere.kept, there.kept.map((one) => one.said.text)]).toEqual([[], ["second"]]);
  });
});
