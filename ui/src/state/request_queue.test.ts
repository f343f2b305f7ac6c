import { afterEach, describe, expect, it, vi } from "vitest";
import { RequestQueue } from "./request_queue.ts";

const none = (): void => undefined;

afterEach(() => void vi.useRealTimers());

describe("requests", () => {
  it("make one read of many quick calls", async () => {
    let reads = 0;
    const requests = new RequestQueue(() => false);
    const read = async (): Promise<void> => void reads++;

    await Promise.all([requests.run("row", read), requests.run("row", read), requests.run("row", read)]);

    expect(reads).toBe(1);
  });

  it("read once more after a read that was under way, never two at once", async () => {
    const requests = new RequestQueue(() => false);
    const order: string[] = [];
    let release = none;
    const held = new Promise<void>((resolve) => (release = resolve));
    const first = requests.run("row", async () => {
      order.push("first begins");
      await held;
      order.push("first ends");
    });
    await Promise.resolve();
    const second = requests.run("row", async () => void order.push("second"));
    const third = requests.run("row", async () => void order.push("third"));
    await Promise.resolve();
    release();
    await Promise.all([first, second, third]);

    expect(order).toEqual(["first begins", "first ends", "third"]);
  });

  it("do not wait for things of other names", async () => {
    const requests = new RequestQueue(() => false);
    void requests.run("slow", () => new Promise<void>(none));
    let isDone = false;

    await requests.run("quick", async () => void (isDone = true));

    expect(isDone).toBe(true);
  });

  it("tell what failed, and go on", async () => {
    const failed: unknown[] = [];
    const requests = new RequestQueue((error) => failed.push(error) < 0);
    await requests.run("row", () => Promise.reject(new Error("no")));
    let isDone = false;
    await requests.run("row", async () => void (isDone = true));

    expect(failed).toHaveLength(1);
    expect(isDone).toBe(true);
  });

  it("run again what the connection was away for", async () => {
    const requests = new RequestQueue(() => true);
    let tries = 0;
    const read = (): Promise<void> => (++tries < 2 ? Promise.reject(new TypeError("away")) : Promise.resolve());
    await requests.run("row", read);
    requests.retryFailed();
    await requests.run("other", async () => undefined);
    requests.retryFailed();
    await requests.run("other", async () => undefined);

    expect(tries).toBe(2);
  });

  it("try again by themselves, after twice as long each time", async () => {
    vi.useFakeTimers();
    const requests = new RequestQueue(() => true);
    let tries = 0;
    const read = (): Promise<void> => (++tries < 3 ? Promise.reject(new TypeError("away")) : Promise.resolve());

    await requests.run("row", read);
    expect(tries).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(tries).toBe(2);
    await vi.advanceTimersByTimeAsync(1999);
    expect(tries).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(tries).toBe(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries).toBe(3);
  });

  it("do not try again what will fail again, nor what was read anyway", async () => {
    vi.useFakeTimers();
    const read: string[] = [];
    const requests = new RequestQueue((error) => error instanceof TypeError);
    const fail = (name: string, error: Error) => async (): Promise<void> => {
      read.push(name);
      throw error;
    };
    await requests.run("refused", fail("refused", new Error("no")));
    await requests.run("row", fail("row", new TypeError("away")));
    await requests.run("row", async () => void read.push("row"));

    await vi.advanceTimersByTimeAsync(60_000);

    expect(read).toEqual(["refused", "row", "row"]);
  });

  it("run nothing after they are closed", async () => {
    const requests = new RequestQueue(() => false);
    let isDone = false;
    const request = requests.run("row", async () => void (isDone = true));
    requests.close();
    await request;

    expect(isDone).toBe(false);
  });

  it("try nothing again after they are closed", async () => {
    vi.useFakeTimers();
    const requests = new RequestQueue(() => true);
    let tries = 0;
    await requests.run("row", () => (tries++, Promise.reject(new TypeError("away"))));
    requests.close();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(tries).toBe(1);
  });
});
