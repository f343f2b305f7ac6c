// What a turn under way says, word by word.

import type { Delta } from "../api/feed.ts";
import type { MessageView } from "../api/schema.ts";

/** What the turn under way has said so far. */
export interface Speaking {
  turn: number;
  text: string;
  thought: string;
}

export interface Speech extends Speaking {
  /** How many characters the text has, as the server counts them. */
  length: number;
  /** It has become a line, which is about to be read. */
  isOver: boolean;
  /** So many lines of this turn were said before it, and are still to be read. */
  ahead: number;
}

/** Take in what a turn says; the answer is the same object if that changes nothing. */
export function heard(speech: Speech | null, delta: Delta): Speech | null {
  const known = speech?.turn === delta.turn_id ? speech : null;
  if (delta.kind === "line") return known && { ...known, isOver: true };
  // After a line the next word begins anew.
  const before = known?.isOver ? silent(delta.turn_id, "", linesOf(known)) : (known ?? silent(delta.turn_id));
  if (delta.kind === "thought") return { ...before, thought: before.thought + delta.text };
  const length = delta.offset + lengthOf(delta.text);
  if (delta.offset === 0) return { ...before, text: delta.text, length };
  // What does not fit on is the tail of a line that is there already, or follows something that was missed.
  return delta.offset === before.length ? { ...before, text: before.text + delta.text, length } : speech;
}

/** Begin with a turn that has said something, or nothing yet. */
export function silent(turn: number, text = "", ahead = 0): Speech {
  return { turn, text, thought: "", length: lengthOf(text), isOver: false, ahead };
}

/** Let go of a speech that the loaded lines tell by now. */
export function settled(speech: Speech | null, fresh: readonly MessageView[]): Speech | null {
  if (!speech) return null;
  let { ahead } = speech;
  // A line may be read only after the next one has begun: it is not taken for that.
  const own = fresh.filter((line) => {
    if (line.turn_id !== speech.turn || line.role === "user") return false;
    if (ahead === 0) return true;
    if (textOf(line) !== "") ahead--;
    return false;
  });
  const isTold = speech.isOver
    ? own.length > 0
    : speech.text !== "" && own.some((line) => textOf(line).startsWith(speech.text));
  if (isTold) return null;
  return ahead === speech.ahead ? speech : { ...speech, ahead };
}

/** Join the words of a line. */
export function textOf(line: MessageView): string {
  return line.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Count the lines that are still to be read when a speech is over; thoughts alone may be no line of their own. */
function linesOf({ text, ahead }: Speech): number {
  return text === "" ? ahead : ahead + 1;
}

/** Count characters as the server does: by code points, not by halves of them. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
