// The page of the HTTP API, which the server writes to be read: here each operation can be tried out.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { Authentication, AuthenticationPanel } from "./authentication.ts";
import { type Description, type Operation, readOperations } from "./openapi.ts";
import { createElement } from "./dom.ts";
import { createFilter } from "./filter.ts";
import "./api_docs.css";
import { RequestForm } from "./request_form.ts";

const authentication = new Authentication();
const panel = new AuthenticationPanel(authentication);
const forms = new Map<string, RequestForm>();
let operations: Promise<ReadonlyMap<string, Operation>> | null = null;

async function loadOperations(): Promise<ReadonlyMap<string, Operation>> {
  const response = await fetch("/api/openapi.json");
  return readOperations((await response.json()) as Description);
}

/** Put the form into an operation that was opened; its parameters are then only there. */
async function addForm(place: HTMLElement): Promise<void> {
  if (forms.has(place.id)) return;
  const line = place.querySelector(".line");
  try {
    const operation = (await (operations ??= loadOperations())).get(place.id);
    if (!operation || forms.has(place.id)) return;
    // Only what begins or ends a login changes who asks.
    const onDone = (): void => void (operation.path.startsWith("/api/log") && panel.refresh());
    const form = new RequestForm(operation, authentication, onDone);
    forms.set(place.id, form);
    place.querySelector(".parameters")?.remove();
    line?.replaceWith(form.element);
  } catch {
    operations = null;
    line?.after(createElement("p", { role: "alert" }, strings.notLoaded));
  }
}

function openNamed(): void {
  const place = document.getElementById(location.hash.slice(1));
  if (place instanceof HTMLDetailsElement) place.open = true;
  place?.scrollIntoView();
}

function start(main: HTMLElement, nav: HTMLElement): void {
  nav.prepend(createFilter(main, nav));
  main.prepend(panel.element);
  void panel.refresh();
  for (const place of main.querySelectorAll<HTMLDetailsElement>("details[id]")) {
    place.addEventListener("toggle", () => {
      if (!place.open) {
        forms.get(place.id)?.stop();
        return;
      }
      history.replaceState(null, "", `#${place.id}`); // So that its address can be given to somebody.
      void addForm(place);
    });
  }
  addEventListener("hashchange", openNamed);
  openNamed();
}

const [main, nav] = [document.querySelector("main"), document.querySelector("nav")];
if (main && nav) start(main, nav);
