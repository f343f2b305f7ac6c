// Loading the page anew, where only that helps.

import { hub } from "../state/hub.svelte.ts";

const KEY = "renewed";
const SOON_MS = 30_000;

/** Load the page anew; not while the server is away, and not again and again. */
export function renewOnce(): void {
  const last = Number(sessionStorage.getItem(KEY));
  if (hub.reach !== "here" || Date.now() - last < SOON_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
