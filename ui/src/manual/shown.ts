// The place below a form where the answer is shown.

import { manual as words } from "../words/manual.ts";
import { make, prose } from "./dom.ts";
import { Ear, isText, readProblem, setOut, type Happening, type Told } from "./reading.ts";

/** Headers that somebody who tries something out wants to see. */
const TELLING = [
  ...["Content-Type", "ETag", "Location", "Idempotent-Replay", "Retry-After", "Content-Disposition"],
  ...["Content-Range", "Last-Modified", "WWW-Authenticate"],
];
/** Characters; more of them would make the page slow. */
const MOST_TEXT = 200_000;
const MOST_EVENTS = 200;

export class Answer {
  readonly element = make("div", { class: "answer", role: "group", "aria-label": words.answer, hidden: true });
  readonly #status = make("p", { role: "status" });
  readonly #body = make("div");
  #saved: string[] = [];

  constructor() {
    this.element.append(this.#status, this.#body);
  }

  /** Say one thing, without anything below it. */
  say(text: string, isFault = false): void {
    this.#clear();
    this.#tell(text, isFault);
  }

  /** Add to an answer that broke off. */
  end(text: string): void {
    this.#tell(text, false);
  }

  /** Show what came back, as far as it has come. */
  async show(response: Response, took: number): Promise<void> {
    this.#clear();
    const status = words.took(`${response.status} ${response.statusText}`.trim(), took);
    this.#tell(status, !response.ok);
    this.#body.append(headers(response));
    const type = response.headers.get("Content-Type") ?? "";
    if (type.startsWith("text/event-stream")) await this.#follow(response, status);
    else if (type === "" || isText(type)) this.#showText(type, await response.text());
    else this.#showFile(type, await response.blob());
  }

  #showText(type: string, text: string): void {
    if (text === "") {
      this.#body.append(make("p", {}, words.empty));
      return;
    }
    const told = readProblem(type, text);
    if (told) this.#body.append(problem(told));
    const shown = setOut(type, text);
    this.#body.append(scrolling("pre", words.content, shown.slice(0, MOST_TEXT)));
    if (shown.length > MOST_TEXT) {
      this.#body.append(make("p", {}, `${words.long} `, this.#save(new Blob([text], { type }))));
    }
  }

  #showFile(type: string, file: Blob): void {
    this.#body.append(make("p", {}, `${words.bytes(file.size, type)} `, this.#save(file)));
  }

  async #follow(response: Response, status: string): Promise<void> {
    const list = scrolling("ol", words.events);
    this.#body.append(list);
    const ear = new Ear();
    const decoder = new TextDecoder();
    let count = 0;
    this.#tell(`${status} · ${words.listening(count)}`, false);
    const reader = response.body?.getReader();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      for (const one of ear.hear(decoder.decode(piece.value, { stream: true }))) {
        count += 1;
        list.append(event(one));
        if (list.childElementCount > MOST_EVENTS) list.firstElementChild?.remove();
      }
      list.scrollTop = list.scrollHeight;
      this.#tell(`${status} · ${words.listening(count)}`, false);
    }
    this.#tell(`${status} · ${words.ended(count)}`, false);
  }

  #save(file: Blob): HTMLElement {
    const address = URL.createObjectURL(file);
    this.#saved.push(address);
    return make("a", { href: address, download: "response" }, words.save);
  }

  #tell(text: string, isFault: boolean): void {
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
function scrolling<Tag extends "pre" | "ol">(tag: Tag, label: string, text = ""): HTMLElementTagNameMap[Tag] {
  return make(tag, { tabindex: "0", "aria-label": label, ...(tag === "pre" ? { role: "group" } : {}) }, text);
}

function headers(response: Response): HTMLElement {
  const list = make("dl", { "aria-label": words.headers });
  for (const name of TELLING) {
    const value = response.headers.get(name);
    if (value !== null) list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }
  return list;
}

function problem({ title, detail, id, hint, errors }: Told): HTMLElement {
  const place = make("div", { class: "problem" }, make("p", {}, make("strong", {}, title), ` ${detail}`));
  if (id) place.append(make("p", {}, `${words.problem.id}: `, make("code", {}, id)));
  if (errors.length > 0) {
    const lines = errors.map(({ field, message }) => make("li", {}, make("code", {}, field), ` ${message}`));
    place.append(make("ul", {}, ...lines));
  }
  if (hint) place.append(make("p", {}, `${words.problem.hint}: `, ...prose(hint)));
  return place;
}

function event({ name, id, data }: Happening): HTMLElement {
  const head = make("p", {}, make("strong", {}, name), ` ${id}`);
  return make("li", {}, head, make("code", {}, data));
}
