import { describe, expect, it } from "vitest";
import type { SessionView } from "../../api/schema.ts";
import { listMenuItems, type MenuHandlers, type MenuState } from "./menu.ts";

const session = { pinned_at: null, archived_at: null, ended_at: null, taken_at: null } as SessionView;
const facts: MenuState = { session, isReadOnly: false, isHiddenShown: false, hasHidden: false, canTakeOver: true };

function labels(change: Partial<MenuState>, calls: Partial<MenuHandlers> = {}): string[] {
  return listMenuItems({ ...facts, ...change }, calls as MenuHandlers).flatMap((choice) => choice?.label ?? []);
}

describe("the menu of a conversation", () => {
  it("lets an owner take over what lives on a platform, and give it back", () => {
    const calls: boolean[] = [];
    const handlers = { takeOver: (isTaken: boolean) => void calls.push(isTaken) } as MenuHandlers;
    const taken = { ...session, taken_at: "2026-01-31T12:00:00Z" };
    for (const one of [session, taken]) {
      const choice = listMenuItems({ ...facts, session: one }, handlers).find((choice) => choice?.icon === "hand");
      choice?.run?.();
    }
    expect(calls).toEqual([true, false]);
  });

  it("offers that nowhere else", () => {
    expect(labels({})).toContain("Take over");
    expect(labels({ canTakeOver: false })).not.toContain("Take over");
    expect(labels({ isReadOnly: true })).not.toContain("Take over");
    expect(labels({ session: { ...session, ended_at: "2026-01-31T12:00:00Z" } })).not.toContain("Take over");
  });
});
