// What can be done with one line of a transcript.

import type { MessageView } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import type { TalkState } from "./talk.svelte.ts";
import { isPersons } from "./who.ts";

export type Deed = "copy" | "link" | "branch" | "edit" | "retry" | "undo" | "revisions";

/** What must be known of a conversation to say so. */
export type Known = Pick<TalkState, "cuts" | "hasLater" | "held" | "lines" | "row">;

/** Whether somebody said it here themselves; what came over a platform is changed there. */
export function isOwn(line: MessageView): boolean {
  return line.role === "user" && line.sender_id !== null && line.sender_id === hub.me?.sender_id;
}

/** List what is possible, in the order in which it is offered. */
export function possible(line: MessageView, talk: Known, isOneself: boolean): readonly Deed[] {
  const { seq } = line;
  if (seq === null) return [];
  const hasText = line.deleted_at === null && line.parts.some((part) => part.type === "text" && part.text);
  const isHidden = talk.cuts.some((cut) => cut.kind !== "compacted" && cut.from_seq <= seq && seq <= cut.to_seq);
  const isOpen = !isHidden && talk.row !== null && !talk.row.is_read_only;
  const deeds: [Deed, boolean][] = [
    ["copy", hasText],
    ["edit", isOpen && isOneself && hasText],
    ["retry", isOpen && isLastAnswer(line, talk)],
    ["link", true],
    ["branch", !isHidden && !isHeld(line, talk)],
    ["undo", isOpen && isLastWords(line, talk)],
    ["revisions", line.changed_at !== null],
  ];
  return deeds.flatMap(([deed, isPossible]) => (isPossible ? deed : []));
}

/** A turn that goes on still adds to its lines: nobody branches in the midst of it. */
function isHeld(line: MessageView, talk: Known): boolean {
  return talk.held !== null && line.turn_id === talk.held.id && line.role !== "user";
}

function isLastAnswer(line: MessageView, { hasLater, held, lines }: Known): boolean {
  const last = lines.findLast((one) => one.role === "assistant" || one.role === "user");
  return !hasLater && held === null && last !== undefined && !isPersons(last) && last.seq === line.seq;
}

function isLastWords(line: MessageView, { hasLater, lines }: Known): boolean {
  const last = lines.findLast((one) => one.role === "user");
  return !hasLater && last?.seq === line.seq;
}
