// The rows of a transcript: its messages, and the events between them.

import type {
  Cause,
  HiddenRangeView,
  DeliveryView,
  EndReason,
  MarkerKind,
  MessageView,
  SessionView,
  ToolResultPart,
  TurnView,
} from "../../api/schema.ts";
import type { Fork, Relatives } from "../conversation_api.ts";
import type { Pending } from "../outbox.svelte.ts";
import { getMessageText, getSeq, isFromPerson } from "./messages.ts";
import type { ReplyText } from "./streamed_reply.ts";

/** Another session, to go to. */
export interface SessionLink {
  id: string;
  title: string | null;
}

export type Row = { key: string } & (
  | { kind: "message"; line: MessageView; node: TimelineNodeKind; isDashed: boolean }
  | { kind: "knot"; cause: Cause; silence: number; parent: SessionLink }
  | { kind: "day"; at: string; isDashed: boolean }
  | { kind: "cut"; cut: HiddenRangeView; isOpen: boolean }
  | { kind: "asked"; question: string; answer: string }
  | { kind: "fork"; forks: readonly Fork[]; isDashed: boolean }
  | { kind: "lost"; delivery: DeliveryView }
  | { kind: "pending"; pending: Pending }
  | { kind: "speaking"; streamedReply: ReplyText }
  | { kind: "held"; turn: TurnView }
  | { kind: "end"; reason: EndReason; at: string; next: SessionLink | null }
);

/** What the rows are made of. */
export interface RowSource {
  lines: readonly MessageView[];
  hasEarlier: boolean;
  cuts: readonly HiddenRangeView[];
  compaction: HiddenRangeView | null;
  isCutOpen: boolean;
  session: SessionView | null;
  relatives: Relatives | null;
  failedDeliveries: readonly DeliveryView[];
  turns: ReadonlyMap<number, TurnView>;
}

/** What comes after the last line. */
export interface TailSource {
  lines: readonly MessageView[];
  queue: readonly MessageView[];
  pending: readonly Pending[];
  streamedReply: ReplyText | null;
  held: TurnView | null;
  session: SessionView | null;
  relatives: Relatives | null;
}

const FAILED_MARKERS: readonly MarkerKind[] = ["interrupted", "failed", "stopped", "expired"];

/** Make the rows of what is loaded. */
export function listRows(source: RowSource): readonly Row[] {
  const { lines, hasEarlier, compaction } = source;
  const rows: Row[] = [];
  const folded = compaction?.to_seq ?? 0;
  const between = createRowsAfter(source);
  const calls = collectCallIds(lines);
  if (!hasEarlier && !isBranch(source.session)) rows.push(...listStartRows(source));
  if (!hasEarlier) rows.push(...listRowsBefore(source));
  lines.forEach((line, index) => {
    const isDashed = getSeq(line) <= folded;
    const before = lines[index - 1];
    if (before ? !isSameDay(before.at, line.at) : !hasEarlier) {
      rows.push({ key: `day ${line.key}`, kind: "day", at: line.at, isDashed });
    }
    rows.push(...listQuestionRows(source.turns.get(line.turn_id ?? 0), before, line));
    if (!isResultOfCall(calls, line)) {
      rows.push(messageRow(line, getNodeKind(line, source.cuts), isDashed));
    }
    rows.push(...between(line, lines[index + 1]));
  });
  return rows;
}

/** Make the rows after the last line. */
export function listTailRows({ lines, queue, pending, streamedReply, held, session, relatives }: TailSource): readonly Row[] {
  const rows: Row[] = listQuestionRows(held, lines.at(-1), null);
  if (streamedReply) rows.push({ key: "speaking", kind: "speaking", streamedReply });
  else if (held && (rows.length > 0 || !isAnswered(held, lines.at(-1)))) rows.push({ key: "held", kind: "held", turn: held });
  // What nobody is in the way of is about to be a line, or just became one after the queue was read.
  if (!held) rows.push(...withoutLoaded(queue, lines).map((line) => messageRow(line, "person", false)));
  for (const one of withoutArrived(pending, [...lines, ...queue])) {
    rows.push({ key: `pending ${one.key}`, kind: "pending", pending: one });
  }
  if (session?.ended_at && session.end_reason) {
    const { id, end_reason: reason, ended_at: at } = session;
    rows.push({ key: "end", kind: "end", reason, at, next: findSuccessor(id, relatives) });
  }
  return rows;
}

/** Gather what tools answered, by the call that each answers. */
export function collectToolResults(lines: readonly MessageView[]): ReadonlyMap<string, ToolResultPart> {
  const results = new Map<string, ToolResultPart>();
  for (const { parts } of lines) {
    for (const part of parts) if (part.type === "tool_result") results.set(part.call_id, part);
  }
  return results;
}

/** Tell whether a line says that something went wrong with an answer. */
export function hasFailed(line: MessageView): boolean {
  return line.parts.some((part) => part.type === "marker" && FAILED_MARKERS.includes(part.kind));
}

/** A turn that has said something and called for nothing is as good as over. */
function isAnswered({ id, state }: TurnView, last: MessageView | undefined): boolean {
  if (state !== "running" || last?.turn_id !== id || last.role !== "assistant") return false;
  return last.parts.every((part) => part.type === "text" || part.type === "reasoning");
}

function withoutLoaded(queue: readonly MessageView[], lines: readonly MessageView[]): readonly MessageView[] {
  const known = new Set(queue.length > 0 ? lines.map(({ key }) => key) : []);
  return queue.filter(({ key }) => !known.has(key));
}

/** Leave out what has come back already: the feed may be quicker than the answer to whoever sent it. */
function withoutArrived(pending: readonly Pending[], known: readonly MessageView[]): readonly Pending[] {
  const taken = new Set<number>();
  return pending.filter(({ text, since, after, error }) => {
    // What could not be sent is never taken for something that was said before.
    if (error !== null) return true;
    const isNew = ({ key, seq }: MessageView): boolean => key > since && (seq === null || seq > (after ?? 0));
    const back = known.find((line) => isNew(line) && !taken.has(line.key) && hasText(line, text));
    if (back) taken.add(back.key);
    return !back;
  });
}

function hasText(line: MessageView, text: string): boolean {
  return isFromPerson(line) && getMessageText(line).trim() === text.trim();
}

/** What stands before the first line of all: what is folded away, or branches that share nothing. */
function listRowsBefore({ lines, compaction, isCutOpen, relatives }: RowSource): Row[] {
  if (compaction && !isCutOpen) return [cutRow(compaction, false)];
  const first = getSeq(lines[0]);
  const forks = relatives?.forks.filter(({ seq }) => seq < first) ?? [];
  return forks.length > 0 ? [{ key: "fork", kind: "fork", forks, isDashed: false }] : [];
}

/** Tell what a turn asked and was answered: before what it said after that, or at the end. */
function listQuestionRows(turn: TurnView | null | undefined, before: MessageView | undefined, line: MessageView | null): Row[] {
  if (!turn?.question || turn.answer === null) return [];
  const askedAt = Date.parse(turn.asked_at ?? turn.queued_at);
  const isAfter = ({ turn_id, role, at }: MessageView): boolean =>
    turn_id === turn.id && role !== "user" && Date.parse(at) > askedAt;
  if ((before && isAfter(before)) || (line && !isAfter(line))) return [];
  return [{ key: `asked ${turn.id}`, kind: "asked", question: turn.question, answer: turn.answer }];
}

/** What stands after a line: a fold, a knot, branches, and what was not delivered. */
function createRowsAfter(source: RowSource): (line: MessageView, next: MessageView | undefined) => Row[] {
  const { compaction, isCutOpen, session, relatives, failedDeliveries } = source;
  const folded = compaction?.to_seq ?? 0;
  return (line, next) => {
    const seq = getSeq(line);
    const upto = next ? getSeq(next) : Number.POSITIVE_INFINITY;
    const isHere = (at: number): boolean => seq <= at && at < upto;
    const rows: Row[] = [];
    const isTurnOver = line.turn_id !== null && next?.turn_id !== line.turn_id;
    const isOwed = (one: DeliveryView): boolean =>
      one.turn === null ? one.seq === seq : isTurnOver && one.turn === line.turn_id;
    for (const delivery of failedDeliveries.filter(isOwed)) {
      rows.push({ key: `lost ${delivery.id}`, kind: "lost", delivery });
    }
    const forks = relatives?.forks.filter((fork) => isHere(fork.seq)) ?? [];
    if (forks.length > 0) rows.push({ key: `fork ${line.key}`, kind: "fork", forks, isDashed: upto <= folded });
    if (isBranch(session) && isHere(session?.base_seq ?? 0)) rows.push(...listStartRows(source));
    if (compaction && isCutOpen && isHere(folded)) rows.push(cutRow(compaction, true));
    return rows;
  };
}

/** A message keeps its key when it comes out of the queue: it stays the same row. */
function messageRow(line: MessageView, node: TimelineNodeKind, isDashed: boolean): Row {
  return { key: `m${line.key}`, kind: "message", line, node, isDashed };
}

function cutRow(cut: HiddenRangeView, isOpen: boolean): Row {
  return { key: "cut", kind: "cut", cut, isOpen };
}

/** Tell why the session began, if another one came before it. */
function listStartRows({ session, relatives }: RowSource): Row[] {
  if (!session || session.cause === "first" || !session.parent_id) return [];
  const { parent } = relatives ?? {};
  const silence = parent ? Date.parse(session.opened_at) - Date.parse(parent.last_activity_at) : 0;
  const link = { id: session.parent_id, title: parent?.title ?? null };
  return [{ key: "knot", kind: "knot", cause: session.cause, silence: Math.max(0, silence), parent: link }];
}

function isBranch(session: SessionView | null): boolean {
  return session?.base_seq !== null && session?.base_seq !== undefined;
}

/** Find where a conversation goes on that has ended. */
function findSuccessor(id: string, relatives: Relatives | null): SessionLink | null {
  const successor = relatives?.lineage.children.find(({ cause }) => cause !== "branch" && cause !== "background");
  if (successor) return { id: successor.id, title: successor.title };
  const latest = relatives?.lineage.latest_id;
  return latest && latest !== id ? { id: latest, title: null } : null;
}

function getNodeKind(line: MessageView, cuts: readonly HiddenRangeView[]): TimelineNodeKind {
  const seq = getSeq(line);
  if (cuts.some((cut) => cut.kind !== "compacted" && cut.from_seq <= seq && seq <= cut.to_seq)) return "hollow";
  if (hasFailed(line)) return "gap";
  if (isFromPerson(line)) return "person";
  return line.role === "assistant" && line.parts.some((part) => part.type === "text") ? "agent" : "tool";
}

/** What a tool answers is shown with its call, if that is loaded. */
function isResultOfCall(calls: ReadonlySet<string>, { role, parts }: MessageView): boolean {
  if (role !== "tool" || parts.length === 0) return false;
  return parts.every((part) => part.type === "tool_result" && calls.has(part.call_id));
}

function collectCallIds(lines: readonly MessageView[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const { parts } of lines) for (const part of parts) if (part.type === "tool_call") calls.add(part.id);
  return calls;
}

function isSameDay(one: string, other: string): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

/** What a piece of the line tells: who speaks, or what happened; `none` is thread alone. */
export type TimelineNodeKind =
  | "person"
  | "agent"
  | "tool"
  | "knot"
  | "cut"
  | "gap"
  | "fork"
  | "hollow"
  | "running"
  | "waiting"
  | "none";
