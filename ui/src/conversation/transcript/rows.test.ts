import { describe, expect, it } from "vitest";
import type { HiddenRangeView, DeliveryView, MessageView, SessionView, TurnView } from "../../api/schema.ts";
import type { Relatives } from "../conversation_api.ts";
import type { Pending } from "../outbox.svelte.ts";
import { collectToolResults, listRows, listTailRows, type Row, type RowSource, type TailSource } from "./rows.ts";

const line = (seq: number, change: Partial<MessageView> = {}): MessageView => ({
  key: seq,
  session_id: "one",
  seq,
  role: seq % 2 ? "user" : "assistant",
  parts: [{ type: "text", text: String(seq) }],
  at: "2026-01-31T12:00:00Z",
  turn_id: Math.ceil(seq / 2),
  sender_id: null,
  sender_name: null,
  arrived_at: null,
  changed_at: null,
  deleted_at: null,
  ...change,
});
const lines = (count: number): MessageView[] => Array.from({ length: count }, (_, at) => line(at + 1));
const cut = (kind: HiddenRangeView["kind"], from_seq: number, to_seq: number): HiddenRangeView => ({
  key: 1,
  kind,
  from_seq,
  to_seq,
  user_messages: 1,
  summary: null,
  made_at: "2026-01-31T12:00:00Z",
});
const session = (change: Partial<SessionView> = {}): SessionView =>
  ({
    id: "one",
    parent_id: null,
    base_seq: null,
    cause: "first",
    opened_at: "2026-01-31T12:00:00Z",
    ended_at: null,
    end_reason: null,
    ...change,
  }) as SessionView;
const scene = (change: Partial<RowSource> = {}): RowSource => ({
  lines: lines(4),
  hasEarlier: true,
  cuts: [],
  compaction: null,
  isCutOpen: false,
  session: session(),
  relatives: null,
  failedDeliveries: [],
  turns: new Map(),
  ...change,
});
const relatives = (change: Partial<Relatives> = {}): Relatives => ({
  lineage: {
    root_id: "one",
    parent_id: null,
    cause: "first",
    first_id: "one",
    latest_id: "one",
    children: [],
    number_of_children: 0,
  },
  parent: null,
  forks: [],
  ...change,
});
const kinds = (rows: readonly Row[]): string[] => rows.map((row) => (row.kind === "message" ? row.node : row.kind));
const tail = (change: Partial<TailSource> = {}): TailSource => ({
  lines: [],
  queue: [],
  pending: [],
  streamedReply: null,
  held: null,
  session: session(),
  relatives: null,
  ...change,
});

describe("what a person says in the agent's place", () => {
  const answer = line(5, { role: "assistant", turn_id: null, sender_id: "owner", sender_name: "owner" });

  it("has a person's node", () => {
    expect(kinds(listRows(scene({ lines: [line(4), answer] })))).toEqual(["agent", "person"]);
  });

  it("tells below itself that it was not delivered", () => {
    const delivery = { id: 3, turn: null, seq: 5 } as DeliveryView;
    const words = { id: 4, turn: null, seq: null } as DeliveryView;
    const rows = listRows(scene({ lines: [line(4), answer, line(6)], failedDeliveries: [delivery, words] }));
    expect(kinds(rows)).toEqual(["agent", "person", "lost", "agent"]);
  });

  it("is not on its way any more once it is a line", () => {
    const pending = { key: "p", text: "5", since: 4, after: 4, error: null } as Pending;
    expect(listTailRows(tail({ lines: [answer], pending: [pending] }))).toEqual([]);
  });
});

describe("the rows of a transcript", () => {
  it("are the lines, by who speaks", () => {
    expect(kinds(listRows(scene()))).toEqual(["person", "agent", "person", "agent"]);
  });

  it("begin with the day, and tell each new one", () => {
    const two = [line(1), line(2, { at: "2026-02-02T12:00:00Z" })];
    expect(kinds(listRows(scene({ lines: two, hasEarlier: false })))).toEqual(["day", "person", "day", "agent"]);
  });

  it("begin with a knot where a session began because of another one", () => {
    const parent = session({ id: "old", title: "Before", last_activity_at: "2026-01-31T04:00:00Z" });
    const fresh = session({ cause: "idle", parent_id: "old" });
    const [knot] = listRows(scene({ hasEarlier: false, session: fresh, relatives: relatives({ parent }) }));
    expect(knot).toMatchObject({ kind: "knot", cause: "idle", silence: 8 * 3_600_000, parent: { title: "Before" } });
  });

  it("have the knot of a branch where it left", () => {
    const branch = session({ cause: "branch", parent_id: "old", base_seq: 2 });
    expect(kinds(listRows(scene({ session: branch })))).toEqual(["person", "agent", "knot", "person", "agent"]);
  });

  it("fold what was compacted, and dash it once it is open", () => {
    const compaction = cut("compacted", 1, 2);
    const folded = scene({ lines: lines(4).slice(2), hasEarlier: false, cuts: [compaction], compaction });
    expect(kinds(listRows(folded))).toEqual(["cut", "day", "person", "agent"]);
    const open = listRows({ ...folded, lines: lines(4), isCutOpen: true });
    expect(kinds(open)).toEqual(["day", "person", "agent", "cut", "person", "agent"]);
    expect(open.map((row) => "isDashed" in row && row.isDashed)).toEqual([true, true, true, false, false, false]);
  });

  it("show forks where branches leave, also from a line that is out of sight", () => {
    const forks = [
      { seq: 2, id: "b", title: "B" },
      { seq: 3, id: "c", title: "C" },
    ];
    const seen = scene({ lines: [line(1), line(2), line(4)], relatives: relatives({ forks }) });
    const rows = listRows(seen);
    expect(kinds(rows)).toEqual(["person", "agent", "fork", "agent"]);
    expect(rows[2]).toMatchObject({ forks });
  });

  it("show a branch that shares nothing before the first line", () => {
    const forks = [{ seq: 0, id: "b", title: "B" }];
    const seen = { lines: [line(1), line(2)], hasEarlier: false, relatives: relatives({ forks }) };
    expect(kinds(listRows(scene(seen)))).toEqual(["fork", "day", "person", "agent"]);
    expect(kinds(listRows(scene({ ...seen, hasEarlier: true })))).not.toContain("fork");
  });

  it("tell what was asked and answered before what was said after that", () => {
    const at = (minute: number): { at: string; turn_id: number } => ({ at: `2026-01-31T12:0${minute}:00Z`, turn_id: 7 });
    // It went on where it was: only one that was let go of is queued again with its answer.
    const turn = { id: 7, state: "running", queued_at: at(0).at, asked_at: at(3).at, question: "Which?", answer: "Both" } as TurnView;
    const before = [line(1, at(1)), line(2, at(2))];
    const turns = new Map([[7, turn]]);
    const asked = { kind: "asked", question: "Which?", answer: "Both" };
    expect(listRows(scene({ lines: [...before, line(4, at(4)), line(6, at(5))], turns }))).toMatchObject([
      { kind: "message" },
      { kind: "message" },
      asked,
      { kind: "message" },
      { kind: "message" },
    ]);
    expect(listTailRows(tail({ lines: before, held: turn }))).toMatchObject([asked, { kind: "held" }]);
    const open = { ...turn, state: "waiting", answer: null } as TurnView;
    expect(kinds(listTailRows(tail({ lines: before, held: open })))).toEqual(["held"]);
  });

  it("have hollow nodes for what was undone, and gaps for what broke off", () => {
    const broken = line(4, { parts: [{ type: "marker", kind: "interrupted", text: "gone" }] });
    const rows = listRows(scene({ lines: [...lines(3), broken], cuts: [cut("undone", 1, 2)] }));
    expect(kinds(rows)).toEqual(["hollow", "hollow", "person", "gap"]);
  });

  it("show what a tool answers with its call, unless that is not loaded", () => {
    const call = line(2, { parts: [{ type: "tool_call", id: "x", name: "look", arguments: "{}" }] });
    const answer = { type: "tool_result", call_id: "x", text: "seen", is_error: false } as const;
    const result = line(3, { role: "tool", parts: [answer] });
    expect(kinds(listRows(scene({ lines: [call, result] })))).toEqual(["tool"]);
    expect(kinds(listRows(scene({ lines: [result] })))).toEqual(["tool"]);
    expect(collectToolResults([call, result]).get("x")).toBe(answer);
  });
});

describe("the rows after the last line", () => {
  const held = { id: 7, state: "running" } as TailSource["held"];

  it("are what the agent says, or that it is at work", () => {
    expect(kinds(listTailRows(tail({ held })))).toEqual(["held"]);
    const streamedReply = { turn: 7, text: "Hel", thought: "" };
    expect(kinds(listTailRows(tail({ held, streamedReply })))).toEqual(["speaking"]);
  });

  it("do not tell of work when the answer is there", () => {
    expect(kinds(listTailRows(tail({ held, lines: [line(2, { turn_id: 7 })] })))).toEqual([]);
    const call = line(2, { turn_id: 7, parts: [{ type: "tool_call", id: "x", name: "look", arguments: "{}" }] });
    expect(kinds(listTailRows(tail({ held, lines: [call] })))).toEqual(["held"]);
  });

  it("are the queue only while nobody is in its way", () => {
    const queue = [line(9, { seq: null })];
    expect(kinds(listTailRows(tail({ queue })))).toEqual(["person"]);
    expect(kinds(listTailRows(tail({ queue, held })))).toEqual(["held"]);
    expect(kinds(listTailRows(tail({ queue, lines: [line(9)] })))).toEqual([]);
  });

  it("are what was sent from here, until it has come back", () => {
    const sent = (key: string) => ({ key, text: "5", files: [], at: "", since: 4, after: null, error: null });
    expect(kinds(listTailRows(tail({ lines: lines(4), pending: [sent("a")] })))).toEqual(["pending"]);
    expect(kinds(listTailRows(tail({ lines: lines(5), pending: [sent("a")] })))).toEqual([]);
    expect(kinds(listTailRows(tail({ lines: lines(5), pending: [sent("a"), sent("b")] })))).toEqual(["pending"]);
    expect(kinds(listTailRows(tail({ lines: lines(5), pending: [{ ...sent("a"), since: 5 }] })))).toEqual(["pending"]);
    // What was said before it may be loaded only now.
    expect(kinds(listTailRows(tail({ lines: lines(5), pending: [{ ...sent("a"), after: 5 }] })))).toEqual(["pending"]);
    expect(kinds(listTailRows(tail({ lines: lines(5), pending: [{ ...sent("a"), after: 4 }] })))).toEqual([]);
    const failed = { ...sent("a"), error: new Error("away") };
    expect(kinds(listTailRows(tail({ lines: lines(5), pending: [failed] })))).toEqual(["pending"]);
  });

  it("tell why a session ended, and where it goes on", () => {
    const child = { id: "next", cause: "daily", title: "Next", base_seq: null, opened_at: "" } as const;
    const branch = { id: "b", cause: "branch", title: "B", base_seq: 2, opened_at: "" } as const;
    const ended = session({ ended_at: "2026-01-31T12:00:00Z", end_reason: "daily" });
    const { lineage } = relatives();
    const [end] = listTailRows(tail({ session: ended, relatives: relatives({ lineage: { ...lineage, children: [branch, child] } }) }));
    expect(end).toMatchObject({ kind: "end", reason: "daily", next: { id: "next", title: "Next" } });
  });
});
