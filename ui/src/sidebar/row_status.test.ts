import { describe, expect, it } from "vitest";
import type { SessionRowView } from "../api/schema.ts";
import { getLastSpeaker, getRowStatus } from "./row_status.ts";
import { createRow } from "./session_row_fixture.ts";

const row = (change: Partial<SessionRowView>, platform = "telegram"): SessionRowView => ({
  ...createRow("a", 1, { platform }),
  last_words: "hello",
  ...change,
});

describe("the mark of a row", () => {
  it("is the most urgent of all that hold", () => {
    const all = { needs_you: true, queued: 1, has_failed_delivery: true, is_unread: true, has_draft: true };
    expect(getRowStatus(row(all))).toBe("needs");
    expect(getRowStatus(row({ ...all, needs_you: false }))).toBe("running");
    expect(getRowStatus(row({ ...all, needs_you: false, queued: 0 }))).toBe("failed");
    expect(getRowStatus(row({ is_unread: true, has_draft: true }))).toBe("unread");
    expect(getRowStatus(row({ has_draft: true }))).toBe("draft");
    expect(getRowStatus(row({}))).toBeNull();
  });
});

describe("who said the last words", () => {
  it("is somebody by name, or the agent", () => {
    expect(getLastSpeaker(row({ last_speaker: { role: "user", name: "Alice" } }), "owner")).toEqual({ name: "Alice" });
    expect(getLastSpeaker(row({ last_speaker: { role: "assistant", name: null } }), "owner")).toBe("agent");
  });

  it("is whoever answers in the agent's place", () => {
    const answered = row({ last_speaker: { role: "assistant", name: "owner" } });
    expect(getLastSpeaker(answered, "owner")).toBe("you");
    expect(getLastSpeaker(answered, "bob")).toEqual({ name: "owner" });
  });

  it("is you, where you speak yourself", () => {
    const mine = { last_speaker: { role: "user", name: "owner" } } as const;
    expect(getLastSpeaker(row(mine, "web"), "owner")).toBe("you");
    expect(getLastSpeaker(row(mine, "web"), "bob")).toEqual({ name: "owner" });
    expect(getLastSpeaker(row(mine, "telegram"), "owner")).toEqual({ name: "owner" });
  });

  it("is nobody if it is not known, or nothing was said", () => {
    expect(getLastSpeaker(row({ last_speaker: { role: "user", name: null } }), null)).toBeNull();
    expect(getLastSpeaker(row({ last_speaker: null }), null)).toBeNull();
    expect(getLastSpeaker(row({ last_words: null, last_speaker: { role: "assistant", name: null } }), null)).toBeNull();
  });
});
