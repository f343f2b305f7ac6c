// The actions that one message allows.

import type { MessageView } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import type { ConversationState } from "../conversation_store.svelte.ts";
import { getMessageText, isFromPerson } from "./messages.ts";

export type MessageAction = "copy" | "link" | "branch" | "edit" | "retry" | "undo" | "revisions";

/** What must be known of a conversation to say so. */
export type ActionContext = Pick<ConversationState, "cuts" | "hasLater" | "held" | "lines" | "row">;

/** Whether somebody said it here themselves; what came over a platform is changed there. */
export function isOwnMessage(line: MessageView): boolean {
  return line.role === "user" && line.sender_id !== null && line.sender_id === app.me?.sender_id;
}

/** List what is possible, in the order in which it is offered. */
export function listMessageActions(line: MessageView, conversation: ActionContext, isOneself: boolean): readonly MessageAction[] {
  const { seq } = line;
  if (seq === null) return [];
  const hasText = line.deleted_at === null && getMessageText(line) !== "";
  const isHidden = conversation.cuts.some((cut) => cut.kind !== "compacted" && cut.from_seq <= seq && seq <= cut.to_seq);
  const isOpen = !isHidden && conversation.row !== null && !conversation.row.is_read_only;
  const actions: [MessageAction, boolean][] = [
    ["copy", hasText],
    ["edit", isOpen && isOneself && hasText],
    ["retry", isOpen && isLastAnswer(line, conversation)],
    ["link", true],
    ["branch", !isHidden && !isInActiveTurn(line, conversation)],
    ["undo", isOpen && isLastUserMessage(line, conversation)],
    ["revisions", line.changed_at !== null],
  ];
  return actions.flatMap(([action, isAvailable]) => (isAvailable ? action : []));
}

/** A turn that goes on still adds to its lines: nobody branches in the midst of it. */
function isInActiveTurn(line: MessageView, conversation: ActionContext): boolean {
  return conversation.held !== null && line.turn_id === conversation.held.id && line.role !== "user";
}

function isLastAnswer(line: MessageView, { hasLater, held, lines }: ActionContext): boolean {
  const last = lines.findLast((one) => one.role === "assistant" || one.role === "user");
  return !hasLater && held === null && last !== undefined && !isFromPerson(last) && last.seq === line.seq;
}

function isLastUserMessage(line: MessageView, { hasLater, lines }: ActionContext): boolean {
  const last = lines.findLast((one) => one.role === "user");
  return !hasLater && last?.seq === line.seq;
}
