import { describe, expect, it } from "vitest";
import type { SessionRowView } from "../api/schema.ts";
import { markOf, speakerOf } from "./marks.ts";
import { sample } from "./sample.ts";

const row = (change: Partial<SessionRowView>, platform = "telegram"): SessionRowView => ({
  ...sample("a", 1, { platform }),
  last_words: "hello",
  ...change,
});

describe("the mark of a row", () => {
  it("is the most urgent of all that hold", () => {
    const all = { needs_you: true, queued: 1, has_failed_delivery: true, is_unread: true, has_draft: true };
    expect(markOf(row(all))).toBe("needs");
    expect(markOf(row({ ...all, needs_you: false }))).toBe("running");
    expect(markOf(row({ ...all, needs_you: false, queued: 0 }))).toBe("failed");
    expect(markOf(row({ is_unread: true, has_draft: true }))).toBe("unread");
    expect(markOf(row({ has_draft: true }))).toBe("draft");
    expect(markOf(row({}))).toBeNull();
  });
});

describe("who said the last words", () => {
  it("is somebody by name, or the agent", () => {
    expect(speakerOf(row({ last_speaker: { role: "user", name: "Alice" } }), "owner")).toEqual({ name: "Alice" });
    expect(speakerOf(row({ last_speaker: { role: "assistant", name: null } }), "owner")).toBe("agent");
  });

  it("is whoever answers in the agent's place", () => {
    const answered = row({ last_speaker: { role: "assistant", name: "owner" } });
    expect(speakerOf(answered, "owner")).toBe("you");
    expect(speakerOf(answered, "bob")).toEqual({ name: "owner" });
  });

  it("is you, where you speak yourself", () => {
    const mine = { last_speaker: { role: "user", name: "owner" } } as const;
    expect(speakerOf(row(mine, "web"), "owner")).toBe("you");
    expect(speakerOf(row(mine, "web"), "bob")).toEqual({ name: "owner" });
    expect(speakerOf(row(mine, "telegram"), "owner")).toEqual({ name: "owner" });
  });

  it("is nobody if it is not known, or nothing was said", () => {
    expect(speakerOf(row({ last_speaker: { role: "user", name: null } }), null)).toBeNull();
    expect(speakerOf(row({ last_speaker: null }), null)).toBeNull();
    expect(speakerOf(row({ last_words: null, last_speaker: { role: "assistant", name: null } }), null)).toBeNull();
  });
});
