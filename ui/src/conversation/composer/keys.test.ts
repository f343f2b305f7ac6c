import { describe, expect, it } from "vitest";
import { meaning, Twice, type Press, type Situation } from "./keys.ts";

const press = (key: string, more: Partial<Press> = {}): Press => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isComposing: false,
  keyCode: 0,
  ...more,
});

const situation = (more: Partial<Situation> = {}): Situation => ({
  isOffering: false,
  isRunning: false,
  isTouch: false,
  isWarned: false,
  ...more,
});

describe("meaning", () => {
  it("sends with Enter, and begins a line with Shift", () => {
    expect(meaning(press("Enter"), situation())).toBe("send");
    expect(meaning(press("Enter", { shiftKey: true }), situation())).toBe("write");
    expect(meaning(press("Enter", { altKey: true }), situation())).toBe("write");
  });

  it("begins a line with Enter on a phone, and sends with Ctrl or Cmd everywhere", () => {
    expect(meaning(press("Enter"), situation({ isTouch: true }))).toBe("write");
    expect(meaning(press("Enter", { ctrlKey: true }), situation({ isTouch: true }))).toBe("send");
    expect(meaning(press("Enter", { metaKey: true }), situation())).toBe("send");
  });

  it("leaves every key to whoever puts a word together", () => {
    for (const key of ["Enter", "Escape", "Tab", "ArrowDown"]) {
      const now = situation({ isOffering: true, isRunning: true });
      expect(meaning(press(key, { isComposing: true }), now)).toBe("write");
      expect(meaning(press(key, { keyCode: 229 }), now)).toBe("write");
    }
  });

  it("walks through what is offered before anything else", () => {
    const now = situation({ isOffering: true, isRunning: true });
    expect(meaning(press("ArrowDown"), now)).toBe("next");
    expect(meaning(press("ArrowUp"), now)).toBe("previous");
    expect(meaning(press("Enter"), now)).toBe("take");
    expect(meaning(press("Tab"), now)).toBe("take");
    expect(meaning(press("Tab", { shiftKey: true }), now)).toBe("write");
    expect(meaning(press("Escape"), now)).toBe("put away");
  });

  it("stops what runs with Escape, but only the second time", () => {
    expect(meaning(press("Escape"), situation())).toBe("write");
    expect(meaning(press("Escape"), situation({ isRunning: true }))).toBe("warn");
    expect(meaning(press("Escape"), situation({ isRunning: true, isWarned: true }))).toBe("stop");
  });
});

describe("Twice", () => {
  it("holds a warning for a moment only", () => {
    const twice = new Twice();
    expect(twice.isWarned(0)).toBe(false);
    twice.warn(1000);
    expect(twice.isWarned(2900)).toBe(true);
    expect(twice.isWarned(3100)).toBe(false);
    twice.warn(5000);
    twice.forget();
    expect(twice.isWarned(5001)).toBe(false);
  });
});
