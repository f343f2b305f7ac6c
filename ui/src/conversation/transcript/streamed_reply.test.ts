import { describe, expect, it } from "vitest";
import type { Delta } from "../../api/feed.ts";
import type { MessageView } from "../../api/schema.ts";
import { applyDelta, createReply, settleReply, type StreamedReply } from "./streamed_reply.ts";

const delta = (kind: Delta["kind"], text = "", offset = 0, turn_id = 7): Delta => ({
  session_id: "one",
  turn_id,
  kind,
  offset,
  text,
});
const hear = (...deltas: Delta[]): StreamedReply | null => deltas.reduce<StreamedReply | null>(applyDelta, null);
const line = (text: string, turn_id = 7): MessageView => ({
  key: 1,
  session_id: "one",
  seq: 2,
  role: "assistant",
  parts: [{ type: "text", text }],
  at: "2026-01-31T18:45:00Z",
  turn_id,
  sender_id: null,
  sender_name: null,
  arrived_at: null,
  changed_at: null,
  deleted_at: null,
});

describe("a speech", () => {
  it("grows word by word", () => {
    expect(hear(delta("text", "Hel"), delta("text", "lo", 3))?.text).toBe("Hello");
  });

  it("counts characters, not halves of them", () => {
    expect(hear(delta("text", "👋🏽"), delta("text", " you", 2))?.text).toBe("👋🏽 you");
  });

  it("begins anew where the text is told from the start", () => {
    expect(hear(delta("text", "Hel"), delta("text", "Hello", 0))?.text).toBe("Hello");
  });

  it("leaves what does not fit on", () => {
    expect(hear(delta("text", "Hel"), delta("text", "!", 9))?.text).toBe("Hel");
    expect(hear(delta("text", "tail", 9))).toBeNull();
  });

  it("keeps thoughts apart from words", () => {
    const speech = hear(delta("thought", "Hm"), delta("thought", "m."), delta("text", "Yes"));
    expect([speech?.thought, speech?.text]).toEqual(["Hmm.", "Yes"]);
  });

  it("stays until its line is read, and begins anew after it", () => {
    const over = hear(delta("text", "Hello"), delta("line"));
    expect(over?.text).toBe("Hello");
    expect(settleReply(over, [line("Hello")])).toBeNull();
    expect(applyDelta(over, delta("text", "Then", 0))?.text).toBe("Then");
  });

  it("goes when its line is read before it is told to be one", () => {
    expect(settleReply(createReply(7, "Hello"), [line("Hello")])).toBeNull();
    expect(settleReply(createReply(7, "Then"), [line("Hello")])?.text).toBe("Then");
    expect(settleReply(createReply(7, "Hello"), [line("Hello", 6)])?.text).toBe("Hello");
  });

  it("stays when the line before it is read late, also one that begins with the same words", () => {
    const next = hear(delta("text", "I'll look."), delta("line"), delta("text", "I"));
    const kept = settleReply(next, [line("I'll look.")]);
    expect(kept?.text).toBe("I");
    expect(settleReply(applyDelta(kept, delta("text", " see.", 1)), [line("I see.")])).toBeNull();
    expect(settleReply(next, [line("I'll look."), line("I see.")])).toBeNull();
    const thinking = hear(delta("text", "I'll look."), delta("line"), delta("thought", "Hm"));
    expect(settleReply(thinking, [line("I'll look.")])?.thought).toBe("Hm");
    expect(settleReply(hear(delta("thought", "Hm")), [line("")])?.thought).toBe("Hm");
    expect(settleReply(hear(delta("thought", "Hm"), delta("line")), [line("")])).toBeNull();
  });

  it("is another one for another turn", () => {
    expect(hear(delta("text", "Hello"), delta("text", "Bye", 0, 8))).toMatchObject({ turn: 8, text: "Bye" });
  });
});
