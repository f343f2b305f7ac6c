// What is filled in before an operation is asked for: its parameters and its body.

import { manual as words } from "../words/manual.ts";
import type { Filled } from "./asking.ts";
import type { Field, Operation } from "./description.ts";
import { labelled, make } from "./dom.ts";

type Input = HTMLInputElement | HTMLSelectElement;

const KEY = "Idempotency-Key";
const FEW = 6;

/** What was filled in elsewhere: whoever reads a session goes on with the same one. */
const remembered = new Map<string, string>();

export class Inputs {
  readonly element = make("div", { class: "inputs" });
  readonly #operation: Operation;
  readonly #inputs = new Map<Field, Input>();
  readonly #text: HTMLTextAreaElement | null = null;
  readonly #file: HTMLInputElement | null = null;

  constructor(operation: Operation) {
    this.#operation = operation;
    this.#add(operation.fields.filter((field) => field.isNeeded), this.element);
    this.#add(operation.fields.filter((field) => !field.isNeeded), this.#fold());
    if (operation.body?.kind === "json") {
      this.#text = make("textarea", { spellcheck: "false", rows: "3" });
      this.#text.value = operation.body.example;
      this.#place(this.#text, words.body, "application/json");
    } else if (operation.body) {
      this.#file = make("input", { type: "file" });
      this.#place(this.#file, words.file, "");
    }
  }

  filled(): Filled {
    return new Map([...this.#inputs].map(([field, input]) => [field, input.value.trim()]));
  }

  body(): string | File | null {
    return this.#text?.value ?? this.#file?.files?.[0] ?? null;
  }

  /** Take the next key, if the operation has one: what was done is not done again under it. */
  renewKey(key: string): void {
    for (const [field, input] of this.#inputs) if (field.name === KEY) input.value = key;
  }

  /** Make the place of what can be left out: on a phone, many would stand between a thumb and the button. */
  #fold(): HTMLElement {
    const count = this.#operation.fields.filter((field) => !field.isNeeded).length;
    if (count <= FEW) return this.element;
    const place = make("div", { class: "inputs" });
    const isOpen = matchMedia("(min-width: 721px)").matches;
    this.element.append(make("details", { open: isOpen }, make("summary", {}, words.optional(count)), place));
    return place;
  }

  #add(fields: readonly Field[], place: HTMLElement): void {
    for (const field of fields) place.append(this.#labelled(field));
  }

  #labelled(field: Field): HTMLElement {
    const input = inputOf(field);
    this.#inputs.set(field, input);
    if (field.where === "path") this.#remember(field, input);
    const notes = [field.where, field.type, ...(field.isNeeded ? [words.required] : [])].join(", ");
    const more = { [KEY]: words.key }[field.name] ?? (field.kind === "list" ? words.several : "");
    return labelled(input, field.name, notes, [field.about, more].filter(Boolean).join(" "));
  }

  #remember({ name }: Field, input: Input): void {
    const [before] = this.#operation.path.split(`{${name}}`);
    input.value = remembered.get(`${before}`) ?? "";
    // A browser takes these for a way up, and would ask for something else.
    if (input instanceof HTMLInputElement) input.pattern = String.raw`(?!\.{1,2}$).*`;
    input.addEventListener("change", () => remembered.set(`${before}`, input.value));
  }

  #place(input: HTMLElement, name: string, notes: string): void {
    const place = labelled(input, name, notes, "");
    place.classList.add("wide");
    this.element.append(place);
  }
}

function inputOf(field: Field): Input {
  if (field.kind === "choice") {
    const none = field.hint ? `${words.nothing} (${field.hint})` : words.nothing;
    const choices = field.choices.map((one) => make("option", { value: one }, one));
    return make("select", { required: field.isNeeded }, make("option", { value: "" }, none), ...choices);
  }
  const input = make("input", {
    type: field.kind === "number" ? "number" : "text",
    required: field.isNeeded,
    placeholder: field.hint,
    autocomplete: "off",
    spellcheck: "false",
  });
  if (field.name === "If-Match") input.value = "*";
  return input;
}
