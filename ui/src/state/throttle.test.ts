import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Throttle } from "./throttle.ts";

describe("Calm", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("acts at once, and once more for all that is wished for in a pause", () => {
    const act = vi.fn();
    const throttle = new Throttle(act, 1000);
    throttle.run();
    expect(act).toHaveBeenCalledTimes(1);
    throttle.run();
    throttle.run();
    expect(act).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1000);
    expect(act).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(5000);
    expect(act).toHaveBeenCalledTimes(2);
    throttle.run();
    expect(act).toHaveBeenCalledTimes(3);
  });

  it("does nothing more once it is closed", () => {
    const act = vi.fn();
    const throttle = new Throttle(act, 1000);
    throttle.run();
    throttle.run();
    throttle.close();
    vi.advanceTimersByTime(5000);
    expect(act).toHaveBeenCalledTimes(1);
  });
});
