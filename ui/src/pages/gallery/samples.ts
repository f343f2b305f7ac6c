// Made-up messages, rows and turns: one for each state that the gallery shows.

import type { MessageView, SessionRowView, SessionView, ToolResultPart, TurnView } from "../../api/schema.ts";
import type { ConversationState } from "../../conversation/conversation_store.svelte.ts";

const NOW = Date.now();
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const ID = "20260101_000000_gallery0";

const MARKDOWN = `# A heading

Words with **weight**, *stress*, \`code\`, ~~what was wrong~~ and a [link](https://example.org).

- a list
  - with more below
- [x] done
- [ ] to do

> What somebody else said.

| plant | when | how much |
|:------|:----:|---------:|
| peas  | March | 1.5 l |
| beans | May | 2 l |

\`\`\`python
def water(plant: str) -> str:
    """Say what is done."""
    return f"{plant} has water"  # a comment
\`\`\`

A formula in a line, $e^{i\\pi} + 1 = 0$, and one alone:

$$\\int_0^\\infty e^{-x^2} dx = \\frac{\\sqrt{\\pi}}{2}$$

\`\`\`mermaid
graph LR
  platform --> inbox --> worker --> outbox --> platform
\`\`\`

مرحبا بالعالم! هذا نص يُقرأ من اليمين إلى اليسار، وفيه كلمة English.

你好，世界。今天浇花了吗？

Straßenbahnhaltestellenverzeichnisführerschein, und dann: Grüße aus Köln! 🌱👩🏽‍🌾🇺🇳
`;

function line(
  seq: number,
  role: MessageView["role"],
  parts: MessageView["parts"],
  more: Partial<MessageView> = {},
): MessageView {
  return {
    key: seq,
    session_id: ID,
    seq,
    role,
    parts,
    at: ago(60 - seq),
    turn_id: seq,
    sender_id: null,
    sender_name: null,
    arrived_at: null,
    changed_at: null,
    deleted_at: null,
    ...more,
  };
}

const call = (id: string, name: string, given: unknown) =>
  ({ type: "tool_call", id, name, arguments: JSON.stringify(given) }) as const;

/** The turn that is under way. */
const RUNNING = 90;

export const lines: readonly MessageView[] = [
  line(1, "user", [{ type: "text", text: "What should I water today?" }], { sender_name: "Ada" }),
  line(2, "assistant", [{ type: "text", text: MARKDOWN }]),
  line(3, "assistant", [{ type: "reasoning", text: "It has not rained since Monday.\nSo the peas come first." }]),
  line(4, "assistant", [call("done", "read_file", { path: "garden/plan.md" })]),
  line(5, "assistant", [call("failed", "run", { command: "water --all" })]),
  line(6, "assistant", [call("running", "search", { query: "weather tomorrow" })], { turn_id: RUNNING }),
  line(7, "assistant", [call("lost", "fetch", { url: "https://example.org" })]),
  line(8, "user", [
    { type: "text", text: "See here." },
    { type: "attachment", kind: "file", blob: "0", media_type: "text/csv", size: 20_480, name: "beds and plants.csv" },
    { type: "attachment", kind: "audio", blob: "1", media_type: "audio/ogg", size: 90_000, name: null },
  ]),
  line(9, "assistant", [{ type: "marker", kind: "interrupted", text: "the server was restarted" }]),
  line(10, "assistant", [{ type: "marker", kind: "failed", text: "the provider answered 529" }]),
  line(11, "assistant", [{ type: "marker", kind: "stopped", text: "" }]),
  line(12, "assistant", [{ type: "marker", kind: "expired", text: "" }]),
  line(13, "assistant", [{ type: "marker", kind: "spending", text: "The day is nearly used up: $0.85 of $1.00." }]),
  line(14, "assistant", [{ type: "marker", kind: "forgotten", text: "" }]),
  line(15, "system", [{ type: "text", text: "This was said here by the scheduled job “Garden”." }]),
  line(16, "user", [{ type: "text", text: "Said differently" }], { changed_at: ago(3) }),
  line(17, "user", [], { deleted_at: ago(2) }),
];

export const results: ReadonlyMap<string, ToolResultPart> = new Map([
  ["done", { type: "tool_result", call_id: "done", text: "# Plan\n\nPeas, beans, tomatoes.", is_error: false }],
  ["failed", { type: "tool_result", call_id: "failed", text: "water: command not found", is_error: true }],
]);

const session: SessionView = {
  id: ID,
  revision: 1,
  profile: "main",
  platform: "local",
  kind: "dm",
  origin: "person",
  title: "The garden",
  titled_by: "person",
  parent_id: null,
  root_id: null,
  base_id: null,
  base_seq: null,
  cause: "first",
  opened_at: ago(90),
  last_activity_at: ago(2),
  ended_at: null,
  end_reason: null,
  suspended_at: null,
  last_seq: 17,
  user_messages: 4,
  project: null,
  pinned_at: null,
  archived_at: null,
  model: null,
  personality: null,
  tools: null,
  workspace: null,
  worktree: null,
  taken_at: null,
  taken_by: null,
};

function row(title: string | null, platform: string, more: Partial<SessionRowView> = {}): SessionRowView {
  return {
    session: { ...session, id: `${ID}-${platform}-${title}`, title, platform },
    label: "With Ada",
    people: ["Ada", "Bob"],
    people_count: 2,
    last_words: "The peas are up.",
    last_speaker: null,
    held: null,
    queued: 0,
    project_name: null,
    is_unread: false,
    has_draft: false,
    has_failed_delivery: false,
    needs_you: false,
    is_read_only: false,
    ...more,
  };
}

export const rows: readonly SessionRowView[] = [
  row("Read, and nothing to do", "local"),
  row("It needs you", "telegram", { needs_you: true, held: "waiting" }),
  row("It runs", "discord", { held: "running" }),
  row("It did not arrive", "slack", { has_failed_delivery: true }),
  row("Unread", "matrix", { is_unread: true }),
  row("A draft", "whatsapp", { has_draft: true }),
  row("In a project", "signal", { project_name: "Garden" }),
  row(null, "email", { last_words: null }),
  row("A title that is far too long to be shown in a line of the sidebar", "webhook"),
  row("عنوان من اليمين إلى اليسار", "carrier-pigeon", { last_words: "مرحبا" }),
];

const turn = (id: number, more: Partial<TurnView>): TurnView => ({
  id,
  session_id: ID,
  state: "running",
  attempts: 1,
  queued_at: ago(2),
  started_at: ago(2),
  ended_at: null,
  first_seq: 6,
  question: null,
  asked_at: null,
  asks: [],
  awaits: null,
  answer: null,
  error: null,
  answered_by: null,
  ...more,
});

const running = turn(RUNNING, {});
export const waiting: TurnView = turn(RUNNING + 1, {
  state: "waiting",
  question: "May I water all the beds?\n\n```\nwater --all --litres 40\n```",
  asks: ["run"],
});

/** A conversation in which a turn runs and more words wait. It belongs to nobody, and nothing can be done to it. */
export const conversation: ConversationState = {
  id: ID,
  row: row("The garden", "local"),
  lines,
  hasEarlier: false,
  hasLater: false,
  lastSeq: 17,
  cuts: [],
  turns: new Map([[RUNNING, running]]),
  lineage: null,
  queue: [
    { ...line(20, "user", [{ type: "text", text: "And the beans?" }], { seq: null }), revision: "1" },
    { ...line(21, "user", [{ type: "text", text: "وماذا عن الطماطم؟" }], { seq: null }), revision: "1" },
  ],
  pending: [],
  streamedReply: null,
  held: running,
  isLoading: false,
  error: null,
};
