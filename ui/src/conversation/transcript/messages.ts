// Facts about one message: who wrote it, its text and its number.

import type { MessageView, SessionRowView } from "../../api/schema.ts";

/** Whether a person said it; the agent's own words have no sender. */
export function isFromPerson({ role, sender_id }: MessageView): boolean {
  return role === "user" || (role === "assistant" && sender_id !== null);
}

/** Where two talk alone everybody knows who speaks: the agent, and the only person of the conversation. */
export function isOnlyPerson({ sender_name }: MessageView, row: Pick<SessionRowView, "people"> | null): boolean {
  const people = row?.people ?? [];
  return people.length === 0 || (people.length === 1 && people[0] === sender_name);
}

/** Join the words of a line. */
export function getMessageText(line: MessageView): string {
  return line.parts.map((part) => (part.type === "text" || part.type === "note" ? part.text : "")).join("");
}

/** Tell the place of a line; those that wait have none, and are in no stretch. */
export function getSeq(line: MessageView | undefined): number {
  return line?.seq ?? 0;
}
