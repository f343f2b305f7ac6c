import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Calm } from "./calm.ts";

describe("Calm", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("acts at once, and once more for all that is wished for in a pause", () => {
    const act = vi.fn();
    const calm = new Calm(act, 1000);
    calm.wish();
    expect(act).toHaveBeenCalledTimes(1);
    calm.wish();
    calm.wish();
    expect(act).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
    expect(act).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(5000);
    expect(act).toHaveBeenCalledTimes(2);
    calm.wish();
    expect(act).toHaveBeenCalledTimes(3);
  });

  it("does nothing more once it is closed", () => {
    const act = vi.fn();
    const calm = new Calm(act, 1000);
    calm.wish();
    calm.wish();
    calm.close();
    vi.advanceTimersByTime(5000);
    expect(act).toHaveBeenCalledTimes(1);
  });
});
