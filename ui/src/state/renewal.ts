// Loading the page anew, where only that helps.

import { hub } from "./hub.svelte.ts";

const KEY = "renewed";
const SOON_MS = 30_000;

/** Load the page anew, unless the server is away, which may not be known yet. */
export async function renew(): Promise<void> {
  if (hub.reach === "away") return;
  const isThere = await fetch(location.href).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isThere) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}

/** The same, but not again and again. */
export async function renewOnce(): Promise<void> {
  const last = Number(sessionStorage.getItem(KEY));
  if (Date.now() - last >= SOON_MS) await renew();
}
