// The desk of a page: what is being written and what was not sent yet is kept by the browser, and drafts by the server
// for this device, too. Everybody has a desk of their own, and nothing stays on it of what was forgotten.

import { app } from "../../state/app.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { screen } from "../../state/screen.svelte.ts";
import { strings } from "../../strings/index.ts";
import type { OutboxStorage, StoredMessage } from "../outbox.svelte.ts";
import type { DraftStorage } from "./draft.ts";
import type { StoredUpload, UploadStorage } from "./uploads.svelte.ts";

/** For a day the server knows by its key what it was told, and a file by its ticket; the hour is for clocks that differ. */
const EXPIRY_MS = 23 * 3600 * 1000;
/** What is kept, as the beginning of its key says. */
const KINDS: readonly string[] = ["draft", "unsent", "files"];

/** Keep the draft of a session, or of the one that is not there yet. */
export function openDraftStorage(id: string | null): DraftStorage {
  const profile = app.profile;
  const key = getKey("draft", id);
  const query = { device: screen.device, session: id, profile };
  return {
    read: () => localStorage.getItem(key),
    write: (text) => store(key, text),
    // A page that is being left lets go of its requests, but not of those that are kept alive: they must be small.
    put: async (text, isLeaving) => {
      await app.client.call("put_draft", { query, body: { text }, keepalive: isLeaving });
    },
    later: (what, ms) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
    warn: () => notices.show(strings.composer.unkept),
  };
}

/** Keep what was sent in a session and has not arrived: line by line, as several pages may do so. */
export function openOutboxStorage(id: string | null, profile = app.profile): OutboxStorage {
  const prefix = `${getKey("unsent", id, profile)}:`;
  return {
    name: prefix,
    all: () => listStored<StoredMessage>(prefix).filter(isFresh),
    keep: (unsent) => void store(prefix + unsent.key, JSON.stringify(unsent)),
    drop: (key) => void store(prefix + key, null),
  };
}

/** Take the words that were sent so long ago that the server would not know them again: nobody says them twice. */
export function takeExpiredMessages(id: string | null): readonly string[] {
  const prefix = `${getKey("unsent", id)}:`;
  const old = listStored<StoredMessage>(prefix).filter((one) => !isFresh(one));
  for (const { key } of old) store(prefix + key, null);
  return old.map(({ said }) => said.text);
}

/** Keep the files that are to go along in a session: one by one, as several pages may do so. */
export function openUploadStorage(id: string | null): UploadStorage {
  const prefix = `${getKey("files", id)}:`;
  return {
    name: prefix,
    all: () => listStored<StoredUpload>(prefix).filter(isFresh),
    keep: (filed) => void store(prefix + filed.ticket, JSON.stringify(filed)),
    drop: (ticket) => void store(prefix + ticket, null),
  };
}

/** Take away the files that the server has let go since; answers what they were called. */
export function takeExpiredUploads(id: string | null): readonly string[] {
  const prefix = `${getKey("files", id)}:`;
  const old = listStored<StoredUpload>(prefix).filter((one) => !isFresh(one));
  for (const { ticket } of old) store(prefix + ticket, null);
  return old.map(({ name }) => name);
}

/** Read what the server has kept for a session on this device. */
export async function fetchDraft(id: string | null): Promise<string> {
  const query = { device: screen.device, profile: app.profile };
  const { data } = await app.client.call("list_drafts", { query });
  return data.items.find((draft) => draft.session_id === id)?.text ?? "";
}

/** Forget what was written here in a session that is gone; without one, all that whoever is here has written. */
export function clearLocalDrafts(id?: string): void {
  const account = String(app.me?.account.key);
  const gone = listKeys((key) => {
    const [what = "", whose, , where] = key.split(":");
    return KINDS.includes(what) && (id === undefined ? whose === account : where === id);
  });
  for (const key of gone) store(key, null);
}

app.subscribe({
  onEvent: ({ kind, session_id }) => {
    if (kind === "session.forgotten" && session_id) clearLocalDrafts(session_id);
  },
});

function getKey(what: "draft" | "unsent" | "files", id: string | null, profile = app.profile): string {
  return `${what}:${app.me?.account.key}:${profile}:${id ?? ""}`;
}

function listKeys(isMeant: (key: string) => boolean): readonly string[] {
  return Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at) ?? "").filter(isMeant);
}

function listStored<Kept extends { at: string }>(prefix: string): readonly Kept[] {
  const found = listKeys((key) => key.startsWith(prefix)).flatMap((key) => parseStored<Kept>(localStorage.getItem(key)));
  return found.sort((one, other) => one.at.localeCompare(other.at));
}

function parseStored<Kept>(text: string | null): readonly Kept[] {
  try {
    return [JSON.parse(text ?? "") as Kept];
  } catch {
    return [];
  }
}

/** Keep something in the browser; answers whether it has room for it. */
function store(key: string, text: string | null): boolean {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

function isFresh({ at }: { at: string }): boolean {
  return Date.now() - Date.parse(at) < EXPIRY_MS;
}
