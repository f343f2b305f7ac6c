// The keys that work everywhere.

import { place } from "../state/place.svelte.ts";
import { palette } from "./palette.svelte.ts";

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);
const NEXT_MS = 1500;

/** What the command key is called here. */
export const COMMAND = isApple ? "⌘" : "Ctrl ";

/** Where `g` and a letter lead. */
const PLACES: Readonly<Record<string, string>> = {
  c: "/",
  s: "/settings",
  p: "/people",
  j: "/jobs",
  l: "/platforms",
  f: "/projects",
};

let wentAt = 0;

/** Listen to the keyboard until the answer is called. */
export function listen(): () => void {
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const isDone = event.ctrlKey || event.metaKey ? command(event) : !event.altKey && letter(event);
  if (isDone) event.preventDefault();
}

/** These work while one writes, too. */
function command({ key, shiftKey }: KeyboardEvent): boolean {
  if (key.toLowerCase() === "k" && !shiftKey) palette.toggle();
  else if (key.toLowerCase() === "o" && shiftKey) place.go("/?new");
  else return false;
  return true;
}

/** These are letters where something is written, and nothing over a dialog. */
function letter({ key, target, timeStamp }: KeyboardEvent): boolean {
  if (isWriting(target) || document.querySelector("dialog[open]")) return false;
  const [isSecond, where] = [timeStamp - wentAt < NEXT_MS, PLACES[key]];
  wentAt = 0;
  if (isSecond && where !== undefined) place.go(where);
  else if (key === "g") wentAt = timeStamp;
  else if (key === "?") palette.showKeys();
  else if (key === "/") search();
  else return false;
  return true;
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** The search is in the sidebar; where that is not seen, the palette finds the same. */
function search(): void {
  const field = document.getElementById("search");
  if (field?.checkVisibility({ visibilityProperty: true })) field.focus();
  else palette.toggle();
}
