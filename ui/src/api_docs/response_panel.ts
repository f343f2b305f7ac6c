// The panel that shows a response.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { createElement, renderProse } from "./dom.ts";
import {
  EventStreamParser,
  formatBody,
  isText,
  parseProblemDetails,
  type ProblemDetails,
  type ServerSentEvent,
} from "./response.ts";

/** Headers that somebody who tries something out wants to see. */
const SHOWN_HEADERS = [
  ...["Content-Type", "ETag", "Location", "Idempotent-Replay", "Retry-After", "Content-Disposition"],
  ...["Content-Range", "Last-Modified", "WWW-Authenticate"],
];
/** Characters; more of them would make the page slow. */
const MOST_TEXT = 200_000;
const MOST_EVENTS = 200;

export class ResponsePanel {
  readonly element = createElement("div", { class: "answer", role: "group", "aria-label": strings.answer, hidden: true });
  readonly #status = createElement("p", { role: "status" });
  readonly #body = createElement("div");
  #saved: string[] = [];

  constructor() {
    this.element.append(this.#status, this.#body);
  }

  /** Say one thing, without anything below it. */
  showMessage(text: string, isFault = false): void {
    this.#clear();
    this.#setStatus(text, isFault);
  }

  /** Add to an answer that broke off. */
  showEnd(text: string): void {
    this.#setStatus(text, false);
  }

  /** Show what came back, as far as it has come. */
  async show(response: Response, took: number): Promise<void> {
    this.#clear();
    const status = strings.took(`${response.status} ${response.statusText}`.trim(), took);
    this.#setStatus(status, !response.ok);
    this.#body.append(renderHeaders(response));
    const type = response.headers.get("Content-Type") ?? "";
    if (type.startsWith("text/event-stream")) await this.#follow(response, status);
    else if (type === "" || isText(type)) this.#showText(type, await response.text());
    else this.#showFile(type, await response.blob());
  }

  #showText(type: string, text: string): void {
    if (text === "") {
      this.#body.append(createElement("p", {}, strings.empty));
      return;
    }
    const details = parseProblemDetails(type, text);
    if (details) this.#body.append(renderProblem(details));
    const shown = formatBody(type, text);
    this.#body.append(createScrollable("pre", strings.content, shown.slice(0, MOST_TEXT)));
    if (shown.length > MOST_TEXT) {
      this.#body.append(createElement("p", {}, `${strings.long} `, this.#save(new Blob([text], { type }))));
    }
  }

  #showFile(type: string, file: Blob): void {
    this.#body.append(createElement("p", {}, `${strings.bytes(file.size, type)} `, this.#save(file)));
  }

  async #follow(response: Response, status: string): Promise<void> {
    const list = createScrollable("ol", strings.events);
    this.#body.append(list);
    const parser = new EventStreamParser();
    const decoder = new TextDecoder();
    let count = 0;
    this.#setStatus(`${status} · ${strings.listening(count)}`, false);
    const reader = response.body?.getReader();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      for (const one of parser.push(decoder.decode(piece.value, { stream: true }))) {
        count += 1;
        list.append(renderEvent(one));
        if (list.childElementCount > MOST_EVENTS) list.firstElementChild?.remove();
      }
      list.scrollTop = list.scrollHeight;
      this.#setStatus(`${status} · ${strings.listening(count)}`, false);
    }
    this.#setStatus(`${status} · ${strings.ended(count)}`, false);
  }

  #save(file: Blob): HTMLElement {
    const address = URL.createObjectURL(file);
    this.#saved.push(address);
    return createElement("a", { href: address, download: "response" }, strings.save);
  }

  #setStatus(text: string, isFault: boolean): void {
    this.element.hidden = false;
    this.element.classList.toggle("refused", isFault);
    this.#status.textContent = text;
  }

  #clear(): void {
    for (const address of this.#saved.splice(0)) URL.revokeObjectURL(address);
    this.#body.replaceChildren();
  }
}

/** Make something that scrolls by itself, and so can be reached by keyboard. */
function createScrollable<Tag extends "pre" | "ol">(tag: Tag, label: string, text = ""): HTMLElementTagNameMap[Tag] {
  return createElement(tag, { tabindex: "0", "aria-label": label, ...(tag === "pre" ? { role: "group" } : {}) }, text);
}

function renderHeaders(response: Response): HTMLElement {
  const list = createElement("dl", { "aria-label": strings.headers });
  for (const name of SHOWN_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) list.append(createElement("div", {}, createElement("dt", {}, name), createElement("dd", {}, value)));
  }
  return list;
}

function renderProblem({ title, detail, id, hint, errors }: ProblemDetails): HTMLElement {
  const place = createElement("div", { class: "problem" }, createElement("p", {}, createElement("strong", {}, title), ` ${detail}`));
  if (id) place.append(createElement("p", {}, `${strings.problem.id}: `, createElement("code", {}, id)));
  if (errors.length > 0) {
    const lines = errors.map(({ field, message }) => createElement("li", {}, createElement("code", {}, field), ` ${message}`));
    place.append(createElement("ul", {}, ...lines));
  }
  if (hint) place.append(createElement("p", {}, `${strings.problem.hint}: `, ...renderProse(hint)));
  return place;
}

function renderEvent({ name, id, data }: ServerSentEvent): HTMLElement {
  const head = createElement("p", {}, createElement("strong", {}, name), ` ${id}`);
  return createElement("li", {}, head, createElement("code", {}, data));
}
