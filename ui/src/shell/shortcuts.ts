// Keyboard shortcuts of the whole app.

import { router } from "../state/router.svelte.ts";
import { palette } from "./palette.svelte.ts";

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);
const NEXT_MS = 1500;

/** What the command key is called here. */
export const COMMAND_KEY = isApple ? "⌘" : "Ctrl ";

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
export function listenForShortcuts(): () => void {
  addEventListener("keydown", handleKey);
  return () => removeEventListener("keydown", handleKey);
}

function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const isDone = event.ctrlKey || event.metaKey ? handleCommand(event) : !event.altKey && handleLetter(event);
  if (isDone) event.preventDefault();
}

/** These work while one writes, too. */
function handleCommand({ key, shiftKey }: KeyboardEvent): boolean {
  if (key.toLowerCase() === "k" && !shiftKey) palette.toggle();
  else if (key.toLowerCase() === "o" && shiftKey) router.navigate("/?new");
  else return false;
  return true;
}

/** These are letters where something is written, and nothing over a dialog. */
function handleLetter({ key, target, timeStamp }: KeyboardEvent): boolean {
  if (isTextInput(target) || document.querySelector("dialog[open]")) return false;
  const [isSecond, where] = [timeStamp - wentAt < NEXT_MS, PLACES[key]];
  wentAt = 0;
  if (isSecond && where !== undefined) router.navigate(where);
  else if (key === "g") wentAt = timeStamp;
  else if (key === "?") palette.showKeys();
  else if (key === "/") search();
  else return false;
  return true;
}

function isTextInput(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** The search is in the sidebar; where that is not seen, the palette finds the same. */
function search(): void {
  const field = document.getElementById("search");
  if (field?.checkVisibility({ visibilityProperty: true })) field.focus();
  else palette.toggle();
}
