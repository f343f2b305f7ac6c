// Reload of the page, where nothing else helps.

import { app } from "./app.svelte.ts";

const KEY = "renewed";
const SOON_MS = 30_000;

/** Load the page anew, unless the server is away, which may not be known yet. */
export async function reloadPage(): Promise<void> {
  if (app.connectionState === "offline") return;
  const isThere = await fetch(location.href).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isThere) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}

/** The same, but not again and again. */
export async function reloadPageOnce(): Promise<void> {
  const last = Number(sessionStorage.getItem(KEY));
  if (Date.now() - last >= SOON_MS) await reloadPage();
}
