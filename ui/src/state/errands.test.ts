import { afterEach, describe, expect, it, vi } from "vitest";
import { Errands } from "./errands.ts";

const none = (): void => undefined;

afterEach(() => void vi.useRealTimers());

describe("errands", () => {
  it("make one read of many quick wishes", async () => {
    let reads = 0;
    const errands = new Errands(() => false);
    const read = async (): Promise<void> => void reads++;

    await Promise.all([errands.want("row", read), errands.want("row", read), errands.want("row", read)]);

    expect(reads).toBe(1);
  });

  it("read once more after a read that was under way, never two at once", async () => {
    const errands = new Errands(() => false);
    const order: string[] = [];
    let release = none;
    const held = new Promise<void>((resolve) => (release = resolve));
    const first = errands.want("row", async () => {
      order.push("first begins");
      await held;
      order.push("first ends");
    });
    await Promise.resolve();
    const second = errands.want("row", async () => void order.push("second"));
    const third = errands.want("row", async () => void order.push("third"));
    await Promise.resolve();
    release();
    await Promise.all([first, second, third]);

    expect(order).toEqual(["first begins", "first ends", "third"]);
  });

  it("do not wait for things of other names", async () => {
    const errands = new Errands(() => false);
    void errands.want("slow", () => new Promise<void>(none));
    let isDone = false;

    await errands.want("quick", async () => void (isDone = true));

    expect(isDone).toBe(true);
  });

  it("tell what failed, and go on", async () => {
    const failed: unknown[] = [];
    const errands = new Errands((error) => failed.push(error) < 0);
    await errands.want("row", () => Promise.reject(new Error("no")));
    let isDone = false;
    await errands.want("row", async () => void (isDone = true));

    expect(failed).toHaveLength(1);
    expect(isDone).toBe(true);
  });

  it("run again what the connection was away for", async () => {
    const errands = new Errands(() => true);
    let tries = 0;
    const read = (): Promise<void> => (++tries < 2 ? Promise.reject(new TypeError("away")) : Promise.resolve());
    await errands.want("row", read);
    errands.again();
    await errands.want("other", async () => undefined);
    errands.again();
    await errands.want("other", async () => undefined);

    expect(tries).toBe(2);
  });

  it("try again by themselves, after twice as long each time", async () => {
    vi.useFakeTimers();
    const errands = new Errands(() => true);
    let tries = 0;
    const read = (): Promise<void> => (++tries < 3 ? Promise.reject(new TypeError("away")) : Promise.resolve());

    await errands.want("row", read);
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
    const errands = new Errands((error) => error instanceof TypeError);
    const fail = (name: string, error: Error) => async (): Promise<void> => {
      read.push(name);
      throw error;
    };
    await errands.want("refused", fail("refused", new Error("no")));
    await errands.want("row", fail("row", new TypeError("away")));
    await errands.want("row", async () => void read.push("row"));

    await vi.advanceTimersByTimeAsync(60_000);

    expect(read).toEqual(["refused", "row", "row"]);
  });

  it("run nothing after they are closed", async () => {
    const errands = new Errands(() => false);
    let isDone = false;
    const wish = errands.want("row", async () => void (isDone = true));
    errands.close();
    await wish;

    expect(isDone).toBe(false);
  });

  it("try nothing again after they are closed", async () => {
    vi.useFakeTimers();
    const errands = new Errands(() => true);
    let tries = 0;
    await errands.want("row", () => (tries++, Promise.reject(new TypeError("away"))));
    errands.close();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(tries).toBe(1);
  });
});
