import { describe, expect, it } from "vitest";
import { Problem } from "../api/client.ts";
import { Outbox, type Said } from "./outbox.svelte.ts";

const said = (text: string): Said => ({ text, tickets: [], speech: "ask" });

describe("an outbox", () => {
  it("shows a line until it has arrived", async () => {
    let arrive = (): void => undefined;
    const outbox = new Outbox(() => new Promise<void>((resolve) => (arrive = resolve)));
    const sent = outbox.send(said("hello"), 0);
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
    });
    await outbox.send(said("hello"), 0);
    expect(outbox.pending[0]?.error).toBeInstanceOf(TypeError);

    isAway = false;
    await outbox.resendLost();

    expect(outbox.pending).toEqual([]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it("sends again what found the server out of order", async () => {
    let tries = 0;
    const outbox = new Outbox(async () => {
      if (++tries < 2) throw new Problem(503, "StorageError", "The store does not work.");
    });
    await outbox.send(said("hello"), 0);
    await outbox.resendLost();
    expect(outbox.pending).toEqual([]);
  });

  it("does not send again by itself what was refused", async () => {
    let tries = 0;
    const outbox = new Outbox(async () => {
      tries++;
      throw new Problem(402, "CapReached", "The cap is reached.");
    });
    await outbox.send(said("hello"), 0);
    await outbox.resendLost();
    expect(tries).toBe(1);
    expect(outbox.pending).toHaveLength(1);
  });

  it("gives the words back that are thrown away", async () => {
    const outbox = new Outbox(() => Promise.reject(new TypeError("away")));
    await outbox.send(said("hello"), 0);
    expect(outbox.discard(outbox.pending[0]?.key ?? "")).toBe("hello");
    expect(outbox.pending).toEqual([]);
  });
});
