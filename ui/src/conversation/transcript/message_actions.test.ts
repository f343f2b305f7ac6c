import { describe, expect, it } from "vitest";
import type { HiddenRangeView, MessageView, SessionRowView, TurnView } from "../../api/schema.ts";
import { type ActionContext, listMessageActions } from "./message_actions.ts";

const line = (seq: number, role: MessageView["role"], more: Partial<MessageView> = {}): MessageView => ({
  key: seq,
  session_id: "s",
  seq,
  role,
  parts: [{ type: "text", text: "words" }],
  at: "2026-01-01T00:00:00Z",
  turn_id: seq,
  sender_id: role === "user" ? "owner" : null,
  sender_name: null,
  arrived_at: null,
  changed_at: null,
  deleted_at: null,
  ...more,
});
const row = { is_read_only: false } as SessionRowView;
const ask = line(1, "user");
const answer = line(2, "assistant");
const conversation = (more: Partial<ActionContext> = {}): ActionContext => ({
  cuts: [],
  hasLater: false,
  held: null,
  lines: [ask, answer],
  row,
  ...more,
});

describe("possible", () => {
  it("offers edit and undo at one's last words, and retry at the last answer", () => {
    expect(listMessageActions(ask, conversation(), true)).toEqual(["copy", "edit", "link", "branch", "undo"]);
    expect(listMessageActions(answer, conversation(), false)).toEqual(["copy", "retry", "link", "branch"]);
  });

  it("lets the agent not retry what a person said in its place", () => {
    const own = line(3, "assistant", { turn_id: null, sender_id: "owner" });
    expect(listMessageActions(own, conversation({ lines: [ask, answer, own] }), false)).toEqual(["copy", "link", "branch"]);
  });

  it("offers retry and undo nowhere but at the end", () => {
    expect(listMessageActions(ask, conversation({ hasLater: true }), true)).not.toContain("undo");
    expect(listMessageActions(answer, conversation({ hasLater: true }), false)).not.toContain("retry");
    const later = line(3, "user");
    expect(listMessageActions(answer, conversation({ lines: [ask, answer, later] }), false)).not.toContain("retry");
  });

  it("lets a turn that goes on come to its end", () => {
    const held = { id: 2 } as TurnView;
    expect(listMessageActions(answer, conversation({ held }), false)).toEqual(["copy", "link"]);
  });

  it("changes nothing that others said, was undone, or was brought in", () => {
    expect(listMessageActions(ask, conversation(), false)).not.toContain("edit");
    const cuts = [{ kind: "undone", from_seq: 1, to_seq: 2 } as HiddenRangeView];
    expect(listMessageActions(ask, conversation({ cuts }), true)).toEqual(["copy", "link"]);
    const readOnly = { is_read_only: true } as SessionRowView;
    expect(listMessageActions(ask, conversation({ row: readOnly }), true)).toEqual(["copy", "link", "branch"]);
  });

  it("shows earlier versions of what was changed, and copies nothing that is deleted", () => {
    const changed = line(1, "user", { changed_at: "2026-01-01T00:00:00Z" });
    expect(listMessageActions(changed, conversation(), true)).toContain("revisions");
    const deleted = line(1, "user", { deleted_at: "2026-01-01T00:00:00Z" });
    expect(listMessageActions(deleted, conversation(), true)).toEqual(["link", "branch", "undo"]);
    expect(listMessageActions({ ...ask, seq: null }, conversation(), true)).toEqual([]);
  });
});
