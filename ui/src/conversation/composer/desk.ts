// The desk of a page: drafts are kept by the browser, and by the server for this device.

import { hub } from "../../state/hub.svelte.ts";
import { screen } from "../../state/screen.svelte.ts";
import type { Desk } from "./draft.ts";

/** Keep the draft of a session, or of the one that is not there yet. */
export function deskOf(id: string | null): Desk {
  const profile = hub.profile;
  const key = `draft:${profile}:${id ?? ""}`;
  const query = { device: screen.device, session: id, profile };
  return {
    read: () => localStorage.getItem(key),
    write: (text) => {
      if (text === null) localStorage.removeItem(key);
      else keep(key, text);
    },
    put: async (text) => {
      // A page that is being left lets go of its requests, but not of those that are kept alive.
      const response = await fetch(hub.client.address("/api/drafts", { query }), {
        method: "PUT",
        keepalive: true,
        credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": hub.me?.csrf ?? "" },
        body: JSON.stringify({ text }),
      });
      if (!response.ok) throw new Error(response.statusText);
    },
    later: (what, ms) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
  };
}

/** Read what the server has kept for a session on this device. */
export async function keptFor(id: string | null): Promise<string> {
  const query = { device: screen.device, profile: hub.profile };
  const { data } = await hub.client.call("list_drafts", { query });
  return data.items.find((draft) => draft.session_id === id)?.text ?? "";
}

function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // The browser has no room left; the server still keeps it.
  }
}
