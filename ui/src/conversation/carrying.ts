// How words get to the server: as the first ones of a conversation, or in one that is there.

import type { Speech } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import type { Said } from "./outbox.svelte.ts";

/** Begin a conversation; answers its id. */
export async function begin({ text, tickets, first }: Said, key: string, profile: string): Promise<string | null> {
  const header = { "Idempotency-Key": key };
  const body = { text, attachments: [...tickets], ...first, profile };
  return (await hub.client.call("begin_session", { header, body })).data.session_id;
}

/** Say something in a session. Returns the session it went to: a suspended one has a successor. */
export async function say(id: string, { text, tickets, busy }: Said, key: string, speech: Speech): Promise<string> {
  const header = { "Idempotency-Key": key };
  const body = { text, attachments: [...tickets], speech, busy_mode: busy ?? null };
  const { data } = await hub.client.call("send_message", { path: { id }, header, body });
  return data.session_id ?? id;
}

/** Tell for whom words usually are: an owner answers those who write on a platform, or the agent if it asks. */
export function speechOn(platform: string, isAsked = false): Speech {
  return platform !== "local" && hub.isOwner && !isAsked ? "answer" : "ask";
}
