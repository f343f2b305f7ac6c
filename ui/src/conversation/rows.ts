// The rows of a transcript: its lines, and what the line has to tell between them.

import type {
  Cause,
  CutView,
  DeliveryShape,
  EndReason,
  MarkerKind,
  MessageView,
  SessionView,
  ToolResultPart,
  TurnView,
} from "../api/schema.ts";
import type { LineKind } from "../line/kinds.ts";
import type { Pending } from "./outbox.svelte.ts";
import type { Fork, Kin } from "./reading.ts";
import { textOf, type Speaking } from "./speech.ts";
import { seqOf } from "./stretch.ts";
import { isPersons } from "./who.ts";

/** Another session, to go to. */
export interface Link {
  id: string;
  title: string | null;
}

export type Row = { key: string } & (
  | { kind: "message"; line: MessageView; node: LineKind; isDashed: boolean }
  | { kind: "knot"; cause: Cause; silence: number; parent: Link }
  | { kind: "day"; at: string; isDashed: boolean }
  | { kind: "cut"; cut: CutView; isOpen: boolean }
  | { kind: "asked"; question: string; answer: string }
  | { kind: "fork"; forks: readonly Fork[]; isDashed: boolean }
  | { kind: "lost"; delivery: DeliveryShape }
  | { kind: "pending"; pending: Pending }
  | { kind: "speaking"; speaking: Speaking }
  | { kind: "held"; turn: TurnView }
  | { kind: "end"; reason: EndReason; at: string; next: Link | null }
);

/** What the rows are made of. */
export interface Scene {
  lines: readonly MessageView[];
  hasEarlier: boolean;
  cuts: readonly CutView[];
  compaction: CutView | null;
  isCutOpen: boolean;
  session: SessionView | null;
  kin: Kin | null;
  lost: readonly DeliveryShape[];
  turns: ReadonlyMap<number, TurnView>;
}

/** What comes after the last line. */
export interface Tail {
  lines: readonly MessageView[];
  queue: readonly MessageView[];
  pending: readonly Pending[];
  speaking: Speaking | null;
  held: TurnView | null;
  session: SessionView | null;
  kin: Kin | null;
}

const BROKEN: readonly MarkerKind[] = ["interrupted", "failed", "stopped", "expired"];

/** Make the rows of what is loaded. */
export function rowsOf(scene: Scene): readonly Row[] {
  const { lines, hasEarlier, compaction } = scene;
  const rows: Row[] = [];
  const folded = compaction?.to_seq ?? 0;
  const between = betweenLines(scene);
  const calls = callsOf(lines);
  if (!hasEarlier && !isBranch(scene.session)) rows.push(...knotOf(scene));
  if (!hasEarlier) rows.push(...beforeLines(scene));
  lines.forEach((line, index) => {
    const isDashed = seqOf(line) <= folded;
    const before = lines[index - 1];
    if (before ? !isSameDay(before.at, line.at) : !hasEarlier) {
      rows.push({ key: `day ${line.key}`, kind: "day", at: line.at, isDashed });
    }
    rows.push(...askedOf(scene.turns.get(line.turn_id ?? 0), before, line));
    if (!isAnswerOf(calls, line)) {
      rows.push(messageRow(line, nodeOf(line, scene.cuts), isDashed));
    }
    rows.push(...between(line, lines[index + 1]));
  });
  return rows;
}

/** Make the rows after the last line. */
export function tailOf({ lines, queue, pending, speaking, held, session, kin }: Tail): readonly Row[] {
  const rows: Row[] = askedOf(held, lines.at(-1), null);
  if (speaking) rows.push({ key: "speaking", kind: "speaking", speaking });
  else if (held && (rows.length > 0 || !isAnswered(held, lines.at(-1)))) rows.push({ key: "held", kind: "held", turn: held });
  // What nobody is in the way of is about to be a line, or just became one after the queue was read.
  if (!held) rows.push(...without(queue, lines).map((line) => messageRow(line, "person", false)));
  for (const one of onTheWay(pending, [...lines, ...queue])) {
    rows.push({ key: `pending ${one.key}`, kind: "pending", pending: one });
  }
  if (session?.ended_at && session.end_reason) {
    const { id, end_reason: reason, ended_at: at } = session;
    rows.push({ key: "end", kind: "end", reason, at, next: nextOf(id, kin) });
  }
  return rows;
}

/** Gather what tools answered, by the call that each answers. */
export function resultsOf(lines: readonly MessageView[]): ReadonlyMap<string, ToolResultPart> {
  const results = new Map<string, ToolResultPart>();
  for (const { parts } of lines) {
    for (const part of parts) if (part.type === "tool_result") results.set(part.call_id, part);
  }
  return results;
}

/** Tell whether a line says that something went wrong with an answer. */
export function isBroken(line: MessageView): boolean {
  return line.parts.some((part) => part.type === "marker" && BROKEN.includes(part.kind));
}

/** A turn that has said something and called for nothing is as good as over. */
function isAnswered({ id, state }: TurnView, last: MessageView | undefined): boolean {
  if (state !== "running" || last?.turn_id !== id || last.role !== "assistant") return false;
  return last.parts.every((part) => part.type === "text" || part.type === "reasoning");
}

function without(queue: readonly MessageView[], lines: readonly MessageView[]): readonly MessageView[] {
  const known = new Set(queue.length > 0 ? lines.map(({ key }) => key) : []);
  return queue.filter(({ key }) => !known.has(key));
}

/** Leave out what has come back already: the feed may be quicker than the answer to whoever sent it. */
function onTheWay(pending: readonly Pending[], known: readonly MessageView[]): readonly Pending[] {
  const taken = new Set<number>();
  return pending.filter(({ text, since, after, error }) => {
    // What could not be sent is never taken for something that was said before.
    if (error !== null) return true;
    const isNew = ({ key, seq }: MessageView): boolean => key > since && (seq === null || seq > (after ?? 0));
    const back = known.find((line) => isNew(line) && !taken.has(line.key) && isSaid(line, text));
    if (back) taken.add(back.key);
    return !back;
  });
}

function isSaid(line: MessageView, text: string): boolean {
  return isPersons(line) && textOf(line).trim() === text.trim();
}

/** What stands before the first line of all: what is folded away, or branches that share nothing. */
function beforeLines({ lines, compaction, isCutOpen, kin }: Scene): Row[] {
  if (compaction && !isCutOpen) return [cutRow(compaction, false)];
  const first = seqOf(lines[0]);
  const forks = kin?.forks.filter(({ seq }) => seq < first) ?? [];
  return forks.length > 0 ? [{ key: "fork", kind: "fork", forks, isDashed: false }] : [];
}

/** Tell what a turn asked and was answered: before what it said after that, or at the end. */
function askedOf(turn: TurnView | null | undefined, before: MessageView | undefined, line: MessageView | null): Row[] {
  if (!turn?.question || turn.answer === null) return [];
  const askedAt = Date.parse(turn.asked_at ?? turn.queued_at);
  const isAfter = ({ turn_id, role, at }: MessageView): boolean =>
    turn_id === turn.id && role !== "user" && Date.parse(at) > askedAt;
  if ((before && isAfter(before)) || (line && !isAfter(line))) return [];
  return [{ key: `asked ${turn.id}`, kind: "asked", question: turn.question, answer: turn.answer }];
}

/** What stands after a line: a fold, a knot, branches, and what was not delivered. */
function betweenLines(scene: Scene): (line: MessageView, next: MessageView | undefined) => Row[] {
  const { compaction, isCutOpen, session, kin, lost } = scene;
  const folded = compaction?.to_seq ?? 0;
  return (line, next) => {
    const seq = seqOf(line);
    const upto = next ? seqOf(next) : Number.POSITIVE_INFINITY;
    const isHere = (at: number): boolean => seq <= at && at < upto;
    const rows: Row[] = [];
    const isTurnOver = line.turn_id !== null && next?.turn_id !== line.turn_id;
    const isOwed = (one: DeliveryShape): boolean =>
      one.turn === null ? one.seq === seq : isTurnOver && one.turn === line.turn_id;
    for (const delivery of lost.filter(isOwed)) {
      rows.push({ key: `lost ${delivery.id}`, kind: "lost", delivery });
    }
    const forks = kin?.forks.filter((fork) => isHere(fork.seq)) ?? [];
    if (forks.length > 0) rows.push({ key: `fork ${line.key}`, kind: "fork", forks, isDashed: upto <= folded });
    if (isBranch(session) && isHere(session?.base_seq ?? 0)) rows.push(...knotOf(scene));
    if (compaction && isCutOpen && isHere(folded)) rows.push(cutRow(compaction, true));
    return rows;
  };
}

/** A message keeps its key when it comes out of the queue: it stays the same row. */
function messageRow(line: MessageView, node: LineKind, isDashed: boolean): Row {
  return { key: `m${line.key}`, kind: "message", line, node, isDashed };
}

function cutRow(cut: CutView, isOpen: boolean): Row {
  return { key: "cut", kind: "cut", cut, isOpen };
}

/** Tell why the session began, if another one came before it. */
function knotOf({ session, kin }: Scene): Row[] {
  if (!session || session.cause === "first" || !session.parent_id) return [];
  const { parent } = kin ?? {};
  const silence = parent ? Date.parse(session.opened_at) - Date.parse(parent.last_activity_at) : 0;
  const link = { id: session.parent_id, title: parent?.title ?? null };
  return [{ key: "knot", kind: "knot", cause: session.cause, silence: Math.max(0, silence), parent: link }];
}

function isBranch(session: SessionView | null): boolean {
  return session?.base_seq !== null && session?.base_seq !== undefined;
}

/** Find where a conversation goes on that has ended. */
function nextOf(id: string, kin: Kin | null): Link | null {
  const heir = kin?.lineage.children.find(({ cause }) => cause !== "branch" && cause !== "background");
  if (heir) return { id: heir.id, title: heir.title };
  const latest = kin?.lineage.latest_id;
  return latest && latest !== id ? { id: latest, title: null } : null;
}

function nodeOf(line: MessageView, cuts: readonly CutView[]): LineKind {
  const seq = seqOf(line);
  if (cuts.some((cut) => cut.kind !== "compacted" && cut.from_seq <= seq && seq <= cut.to_seq)) return "hollow";
  if (isBroken(line)) return "gap";
  if (isPersons(line)) return "person";
  return line.role === "assistant" && line.parts.some((part) => part.type === "text") ? "agent" : "tool";
}

/** What a tool answers is shown with its call, if that is loaded. */
function isAnswerOf(calls: ReadonlySet<string>, { role, parts }: MessageView): boolean {
  if (role !== "tool" || parts.length === 0) return false;
  return parts.every((part) => part.type === "tool_result" && calls.has(part.call_id));
}

function callsOf(lines: readonly MessageView[]): ReadonlySet<string> {
  const calls = new Set<string>();
  for (const { parts } of lines) for (const part of parts) if (part.type === "tool_call") calls.add(part.id);
  return calls;
}

function isSameDay(one: string, other: string): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}
