import { describe, expect, it } from "vitest";
import { DoublePress, getKeyAction, type KeyContext, type KeyPress } from "./key_actions.ts";

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isComposing: false,
  keyCode: 0,
  ...more,
});

const situation = (more: Partial<KeyContext> = {}): KeyContext => ({
  isOffering: false,
  isRunning: false,
  isTouch: false,
  isWarned: false,
  ...more,
});

describe("meaning", () => {
  it("sends with Enter, and begins a line with Shift", () => {
    expect(getKeyAction(press("Enter"), situation())).toBe("send");
    expect(getKeyAction(press("Enter", { shiftKey: true }), situation())).toBe("write");
    expect(getKeyAction(press("Enter", { altKey: true }), situation())).toBe("write");
  });

  it("begins a line with Enter on a phone, and sends with Ctrl or Cmd everywhere", () => {
    expect(getKeyAction(press("Enter"), situation({ isTouch: true }))).toBe("write");
    expect(getKeyAction(press("Enter", { ctrlKey: true }), situation({ isTouch: true }))).toBe("send");
    expect(getKeyAction(press("Enter", { metaKey: true }), situation())).toBe("send");
  });

  it("leaves every key to whoever puts a word together", () => {
    for (const key of ["Enter", "Escape", "Tab", "ArrowDown"]) {
      const now = situation({ isOffering: true, isRunning: true });
      expect(getKeyAction(press(key, { isComposing: true }), now)).toBe("write");
      expect(getKeyAction(press(key, { keyCode: 229 }), now)).toBe("write");
    }
  });

  it("walks through what is offered before anything else", () => {
    const now = situation({ isOffering: true, isRunning: true });
    expect(getKeyAction(press("ArrowDown"), now)).toBe("next");
    expect(getKeyAction(press("ArrowUp"), now)).toBe("previous");
    expect(getKeyAction(press("Enter"), now)).toBe("take");
    expect(getKeyAction(press("Tab"), now)).toBe("take");
    expect(getKeyAction(press("Tab", { shiftKey: true }), now)).toBe("write");
    expect(getKeyAction(press("Escape"), now)).toBe("put away");
  });

  it("stops what runs with Escape, but only the second time", () => {
    expect(getKeyAction(press("Escape"), situation())).toBe("write");
    expect(getKeyAction(press("Escape"), situation({ isRunning: true }))).toBe("warn");
    expect(getKeyAction(press("Escape"), situation({ isRunning: true, isWarned: true }))).toBe("stop");
  });
});

describe("Twice", () => {
  it("holds a warning for a moment only", () => {
    const twice = new DoublePress();
    expect(twice.isWarned(0)).toBe(false);
    twice.warn(1000);
    expect(twice.isWarned(2900)).toBe(true);
    expect(twice.isWarned(3100)).toBe(false);
    twice.warn(5000);
    twice.forget();
    expect(twice.isWarned(5001)).toBe(false);
  });
});
