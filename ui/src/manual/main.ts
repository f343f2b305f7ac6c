// The page of the HTTP API, which the server writes to be read: here each operation can be tried out.

import { manual as words } from "../words/manual.ts";
import { Caller } from "./caller.ts";
import { readOperations, type Description, type Operation } from "./description.ts";
import { make } from "./dom.ts";
import { makeFilter } from "./finding.ts";
import "./manual.css";
import { Trial } from "./trial.ts";
import { Who } from "./who.ts";

const caller = new Caller();
const who = new Who(caller);
const trials = new Map<string, Trial>();
let reading: Promise<ReadonlyMap<string, Operation>> | null = null;

async function read(): Promise<ReadonlyMap<string, Operation>> {
  const response = await fetch("/api/openapi.json");
  return readOperations((await response.json()) as Description);
}

/** Put the form into an operation that was opened; its parameters are then only there. */
async function arm(place: HTMLElement): Promise<void> {
  if (trials.has(place.id)) return;
  const line = place.querySelector(".line");
  try {
    const operation = (await (reading ??= read())).get(place.id);
    if (!operation || trials.has(place.id)) return;
    // Only what begins or ends a login changes who asks.
    const onDone = (): void => void (operation.path.startsWith("/api/log") && who.renew());
    const trial = new Trial(operation, caller, onDone);
    trials.set(place.id, trial);
    place.querySelector(".parameters")?.remove();
    line?.replaceWith(trial.element);
  } catch {
    reading = null;
    line?.after(make("p", { role: "alert" }, words.notLoaded));
  }
}

function openNamed(): void {
  const place = document.getElementById(location.hash.slice(1));
  if (place instanceof HTMLDetailsElement) place.open = true;
  place?.scrollIntoView();
}

function start(main: HTMLElement, nav: HTMLElement): void {
  nav.prepend(makeFilter(main, nav));
  main.prepend(who.element);
  void who.renew();
  for (const place of main.querySelectorAll<HTMLDetailsElement>("details[id]")) {
    place.addEventListener("toggle", () => {
      if (!place.open) {
        trials.get(place.id)?.stop();
        return;
      }
      history.replaceState(null, "", `#${place.id}`); // So that its address can be given to somebody.
      void arm(place);
    });
  }
  addEventListener("hashchange", openNamed);
  openNamed();
}

const [main, nav] = [document.querySelector("main"), document.querySelector("nav")];
if (main && nav) start(main, nav);
