// The desk of a page: what is being written and what was not sent yet is kept by the browser, and drafts by the server
// for this device, too. Everybody has a desk of their own, and nothing stays on it of what was forgotten.

import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { screen } from "../../state/screen.svelte.ts";
import { words } from "../../words/index.ts";
import type { Shelf, Unsent } from "../outbox.svelte.ts";
import type { Desk } from "./draft.ts";

/** For a day the server knows by its key what it was told; the hour is for clocks that differ. */
const KNOWN_MS = 23 * 3600 * 1000;

/** Keep the draft of a session, or of the one that is not there yet. */
export function deskOf(id: string | null): Desk {
  const profile = hub.profile;
  const key = keyOf("draft", id);
  const query = { device: screen.device, session: id, profile };
  return {
    read: () => localStorage.getItem(key),
    write: (text) => put(key, text),
    // A page that is being left lets go of its requests, but not of those that are kept alive: they must be small.
    put: async (text, isLeaving) => {
      await hub.client.call("put_draft", { query, body: { text }, keepalive: isLeaving });
    },
    later: (what, ms) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
    warn: () => notices.tell(words.composer.unkept),
  };
}

/** Keep what was sent in a session and has not arrived: line by line, as several pages may do so. */
export function shelfOf(id: string | null, profile = hub.profile): Shelf {
  const beginning = `${keyOf("unsent", id, profile)}:`;
  return {
    name: beginning,
    all: () => unsentAt(beginning).filter(isKnown),
    keep: (unsent) => void put(beginning + unsent.key, JSON.stringify(unsent)),
    drop: (key) => void put(beginning + key, null),
  };
}

/** Take the words that were sent so long ago that the server would not know them again: nobody says them twice. */
export function takeOld(id: string | null): readonly string[] {
  const beginning = `${keyOf("unsent", id)}:`;
  const old = unsentAt(beginning).filter((one) => !isKnown(one));
  for (const { key } of old) put(beginning + key, null);
  return old.map(({ said }) => said.text);
}

/** Read what the server has kept for a session on this device. */
export async function keptFor(id: string | null): Promise<string> {
  const query = { device: screen.device, profile: hub.profile };
  const { data } = await hub.client.call("list_drafts", { query });
  return data.items.find((draft) => draft.session_id === id)?.text ?? "";
}

/** Forget what was written here in a session that is gone; without one, all that whoever is here has written. */
export function clearDesk(id?: string): void {
  const account = String(hub.me?.account.key);
  const gone = keysOf((key) => {
    const [what = "", whose, , where] = key.split(":");
    return ["draft", "unsent"].includes(what) && (id === undefined ? whose === account : where === id);
  });
  for (const key of gone) put(key, null);
}

hub.hear({
  onEvent: ({ kind, session_id }) => {
    if (kind === "session.forgotten" && session_id) clearDesk(session_id);
  },
});

function keyOf(what: "draft" | "unsent", id: string | null, profile = hub.profile): string {
  return `${what}:${hub.me?.account.key}:${profile}:${id ?? ""}`;
}

function keysOf(isMeant: (key: string) => boolean): readonly string[] {
  return Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? "").filter(isMeant);
}

function unsentAt(beginning: string): readonly Unsent[] {
  const found = keysOf((key) => key.startsWith(beginning)).flatMap((key) => read(localStorage.getItem(key)));
  return found.sort((one, other) => one.at.localeCompare(other.at));
}

function read(text: string | null): readonly Unsent[] {
  try {
    return [JSON.parse(text ?? "") as Unsent];
  } catch {
    return [];
  }
}

/** Keep something in the browser; answers whether it has room for it. */
function put(key: string, text: string | null): boolean {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

function isKnown({ at }: Unsent): boolean {
  return Date.now() - Date.parse(at) < KNOWN_MS;
}
