// The inputs of a request: its parameters and its body.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { createElement, createField } from "./dom.ts";
import type { Field, Operation } from "./openapi.ts";
import type { FieldValues } from "./request.ts";

type Input = HTMLInputElement | HTMLSelectElement;

const KEY = "Idempotency-Key";
const FEW = 6;

/** What was filled in elsewhere: whoever reads a session goes on with the same one. */
const remembered = new Map<string, string>();

export class RequestInputs {
  readonly element = createElement("div", { class: "inputs" });
  readonly #operation: Operation;
  readonly #inputs = new Map<Field, Input>();
  readonly #text: HTMLTextAreaElement | null = null;
  readonly #file: HTMLInputElement | null = null;

  constructor(operation: Operation) {
    this.#operation = operation;
    this.#add(operation.fields.filter((field) => field.isNeeded), this.element);
    this.#add(operation.fields.filter((field) => !field.isNeeded), this.#getOptionalContainer());
    if (operation.body?.kind === "json") {
      this.#text = createElement("textarea", { spellcheck: "false", rows: "3" });
      this.#text.value = operation.body.example;
      this.#addWide(this.#text, strings.body, "application/json");
    } else if (operation.body) {
      this.#file = createElement("input", { type: "file" });
      this.#addWide(this.#file, strings.file, "");
    }
  }

  values(): FieldValues {
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
  #getOptionalContainer(): HTMLElement {
    const count = this.#operation.fields.filter((field) => !field.isNeeded).length;
    if (count <= FEW) return this.element;
    const place = createElement("div", { class: "inputs" });
    const isOpen = matchMedia("(min-width: 721px)").matches;
    this.element.append(createElement("details", { open: isOpen }, createElement("summary", {}, strings.optional(count)), place));
    return place;
  }

  #add(fields: readonly Field[], place: HTMLElement): void {
    for (const field of fields) place.append(this.#createField(field));
  }

  #createField(field: Field): HTMLElement {
    const input = createInput(field);
    this.#inputs.set(field, input);
    if (field.where === "path") this.#remember(field, input);
    const notes = [field.where, field.type, ...(field.isNeeded ? [strings.required] : [])].join(", ");
    const more = { [KEY]: strings.key }[field.name] ?? (field.kind === "list" ? strings.several : "");
    return createField(input, field.name, notes, [field.about, more].filter(Boolean).join(" "));
  }

  #remember({ name }: Field, input: Input): void {
    const [before] = this.#operation.path.split(`{${name}}`);
    input.value = remembered.get(`${before}`) ?? "";
    // A browser takes these for a way up, and would ask for something else.
    if (input instanceof HTMLInputElement) input.pattern = String.raw`(?!\.{1,2}$).*`;
    input.addEventListener("change", () => remembered.set(`${before}`, input.value));
  }

  #addWide(input: HTMLElement, name: string, notes: string): void {
    const place = createField(input, name, notes, "");
    place.classList.add("wide");
    this.element.append(place);
  }
}

function createInput(field: Field): Input {
  if (field.kind === "choice") {
    const none = field.hint ? `${strings.nothing} (${field.hint})` : strings.nothing;
    const choices = field.choices.map((one) => createElement("option", { value: one }, one));
    return createElement("select", { required: field.isNeeded }, createElement("option", { value: "" }, none), ...choices);
  }
  const input = createElement("input", {
    type: field.kind === "number" ? "number" : "text",
    required: field.isNeeded,
    placeholder: field.hint,
    autocomplete: "off",
    spellcheck: "false",
  });
  if (field.name === "If-Match") input.value = "*";
  return input;
}
