// The desk of a page: what is being written and what was not sent yet is kept by the browser, and drafts by the server
// for this device, too. Everybody has a desk of their own, and nothing stays on it of what was forgotten.

import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { screen } from "../../state/screen.svelte.ts";
import { words } from "../../words/index.ts";
import type { Shelf, Unsent } from "../outbox.svelte.ts";
import type { Desk } from "./draft.ts";
import type { Filed, Folder } from "./uploads.svelte.ts";

/** For a day the server knows by its key what it was told, and a file by its ticket; the hour is for clocks that differ. */
const KNOWN_MS = 23 * 3600 * 1000;
/** What is kept, as the beginning of its key says. */
const KINDS: readonly string[] = ["draft", "unsent", "files"];

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
    all: () => keptAt<Unsent>(beginning).filter(isKnown),
    keep: (unsent) => void put(beginning + unsent.key, JSON.stringify(unsent)),
    drop: (key) => void put(beginning + key, null),
  };
}

/** Take the words that were sent so long ago that the server would not know them again: nobody says them twice. */
export function takeOld(id: string | null): readonly string[] {
  const beginning = `${keyOf("unsent", id)}:`;
  const old = keptAt<Unsent>(beginning).filter((one) => !isKnown(one));
  for (const { key } of old) put(beginning + key, null);
  return old.map(({ said }) => said.text);
}

/** Keep the files that are to go along in a session: one by one, as several pages may do so. */
export function folderOf(id: string | null): Folder {
  const beginning = `${keyOf("files", id)}:`;
  return {
    name: beginning,
    all: () => keptAt<Filed>(beginning).filter(isKnown),
    keep: (filed) => void put(beginning + filed.ticket, JSON.stringify(filed)),
    drop: (ticket) => void put(beginning + ticket, null),
  };
}

/** Take away the files that the server has let go since; answers what they were called. */
export function takeOldFiles(id: string | null): readonly string[] {
  const beginning = `${keyOf("files", id)}:`;
  const old = keptAt<Filed>(beginning).filter((one) => !isKnown(one));
  for (const { ticket } of old) put(beginning + ticket, null);
  return old.map(({ name }) => name);
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
    return KINDS.includes(what) && (id === undefined ? whose === account : where === id);
  });
  for (const key of gone) put(key, null);
}

hub.hear({
  onEvent: ({ kind, session_id }) => {
    if (kind === "session.forgotten" && session_id) clearDesk(session_id);
  },
});

function keyOf(what: "draft" | "unsent" | "files", id: string | null, profile = hub.profile): string {
  return `${what}:${hub.me?.account.key}:${profile}:${id ?? ""}`;
}

function keysOf(isMeant: (key: string) => boolean): readonly string[] {
  return Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? "").filter(isMeant);
}

function keptAt<Kept extends { at: string }>(beginning: string): readonly Kept[] {
  const found = keysOf((key) => key.startsWith(beginning)).flatMap((key) => read<Kept>(localStorage.getItem(key)));
  return found.sort((one, other) => one.at.localeCompare(other.at));
}

function read<Kept>(text: string | null): readonly Kept[] {
  try {
    return [JSON.parse(text ?? "") as Kept];
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

function isKnown({ at }: { at: string }): boolean {
  return Date.now() - Date.parse(at) < KNOWN_MS;
}
