// Who said a line: the agent, or somebody, also in the agent's place.

import type { MessageView, SessionRowView } from "../api/schema.ts";

/** Whether a person said it; the agent's own words have no sender. */
export function isPersons({ role, sender_id }: MessageView): boolean {
  return role === "user" || (role === "assistant" && sender_id !== null);
}

/** Where two talk alone everybody knows who speaks: the agent, and the only person of the conversation. */
export function isAlone({ sender_name }: MessageView, row: Pick<SessionRowView, "people"> | null): boolean {
  const people = row?.people ?? [];
  return people.length === 0 || (people.length === 1 && people[0] === sender_name);
}
