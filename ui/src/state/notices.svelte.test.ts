import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Notices } from "./notices.svelte.ts";

const texts = ({ all }: Notices): string[] => all.map(({ text }) => text);

describe("notices", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("of what was done go by themselves, of what went wrong they stay", () => {
    const notices = new Notices();
    notices.showWarning("broken", null);
    notices.show("done");
    vi.advanceTimersByTime(6000);
    expect(texts(notices)).toEqual(["broken"]);
  });

  it("push out no error that nobody has read", () => {
    const notices = new Notices();
    notices.showWarning("broken", null);
    for (const text of ["a", "b", "c", "d"]) notices.show(text);
    expect(texts(notices)).toEqual(["broken", "b", "c", "d"]);
  });

  it("tell the same error once", () => {
    const notices = new Notices();
    for (const text of ["away", "broken", "away"]) notices.showWarning(text, null);
    expect(texts(notices)).toEqual(["broken", "away"]);
  });

  it("do not go while a pointer or the focus is there", () => {
    const notices = new Notices();
    notices.show("archived", () => undefined);
    vi.advanceTimersByTime(5000);
    notices.pause("pointer");
    notices.pause("focus");
    notices.show("pinned");
    notices.resume("pointer");
    vi.advanceTimersByTime(60_000);
    expect(texts(notices)).toEqual(["archived", "pinned"]);
    notices.resume("focus");
    vi.advanceTimersByTime(5999);
    expect(texts(notices)).toEqual(["archived", "pinned"]);
    vi.advanceTimersByTime(1);
    expect(texts(notices)).toEqual([]);
  });

  it("go on their way once the one with the focus was put away", () => {
    const notices = new Notices();
    notices.show("archived");
    notices.show("pinned");
    notices.pause("focus");
    notices.dismiss(2);
    vi.advanceTimersByTime(6000);
    expect(texts(notices)).toEqual([]);
  });
});
