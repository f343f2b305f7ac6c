// The reply of a running turn, while it is streamed.

import type { Delta } from "../../api/feed.ts";
import type { MessageView } from "../../api/schema.ts";
import { getMessageText } from "./messages.ts";

/** What the turn under way has said so far. */
export interface ReplyText {
  turn: number;
  text: string;
  thought: string;
}

export interface StreamedReply extends ReplyText {
  /** How many characters the text has, as the server counts them. */
  length: number;
  /** It has become a line, which is about to be read. */
  isOver: boolean;
  /** So many lines of this turn were said before it, and are still to be read. */
  ahead: number;
}

/** Take in what a turn says; the answer is the same object if that changes nothing. */
export function applyDelta(reply: StreamedReply | null, delta: Delta): StreamedReply | null {
  const known = reply?.turn === delta.turn_id ? reply : null;
  if (delta.kind === "line") return known && { ...known, isOver: true };
  // After a line the next word begins anew.
  const before = known?.isOver ? createReply(delta.turn_id, "", countLines(known)) : (known ?? createReply(delta.turn_id));
  if (delta.kind === "thought") return { ...before, thought: before.thought + delta.text };
  const length = delta.offset + countCharacters(delta.text);
  if (delta.offset === 0) return { ...before, text: delta.text, length };
  // What does not fit on is the tail of a line that is there already, or follows something that was missed.
  return delta.offset === before.length ? { ...before, text: before.text + delta.text, length } : reply;
}

/** Begin with a turn that has said something, or nothing yet. */
export function createReply(turn: number, text = "", ahead = 0): StreamedReply {
  return { turn, text, thought: "", length: countCharacters(text), isOver: false, ahead };
}

/** Let go of a speech that the loaded lines tell by now. */
export function settleReply(reply: StreamedReply | null, fresh: readonly MessageView[]): StreamedReply | null {
  if (!reply) return null;
  let { ahead } = reply;
  // A line may be read only after the next one has begun: it is not taken for that.
  const own = fresh.filter((line) => {
    if (line.turn_id !== reply.turn || line.role === "user") return false;
    if (ahead === 0) return true;
    if (getMessageText(line) !== "") ahead--;
    return false;
  });
  const isInSentence = reply.isOver
    ? own.length > 0
    : reply.text !== "" && own.some((line) => getMessageText(line).startsWith(reply.text));
  if (isInSentence) return null;
  return ahead === reply.ahead ? reply : { ...reply, ahead };
}

/** Count the lines that are still to be read when a speech is over; thoughts alone may be no line of their own. */
function countLines({ text, ahead }: StreamedReply): number {
  return text === "" ? ahead : ahead + 1;
}

/** Count characters as the server does: by code points, not by halves of them. */
function countCharacters(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
