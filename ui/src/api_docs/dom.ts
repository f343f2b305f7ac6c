// Elements of the page, created without HTML: all content is text.

type Attributes = Readonly<Record<string, string | boolean>>;

let count = 0;

/** Make an element; an attribute that is `false` is left out. */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Make an id that no other element has. */
export function createId(): string {
  count += 1;
  return `manual-${count}`;
}

/** Make a button that does something. */
export function createButton(label: string, run: () => void, kind = ""): HTMLButtonElement {
  const made = createElement("button", { type: "button", class: kind }, label);
  made.addEventListener("click", run);
  return made;
}

/** Put a name above something to fill in, and what is to know about it below. */
export function createField(input: HTMLElement, name: string, notes: string, about: string): HTMLElement {
  input.id = createId();
  const label = createElement("label", { for: input.id }, createElement("code", {}, name));
  if (notes) label.append(" ", createElement("small", {}, notes));
  const place = createElement("div", { class: "field" }, label, input);
  if (about) {
    const help = createElement("p", { id: createId() }, ...renderProse(about));
    input.setAttribute("aria-describedby", help.id);
    place.append(help);
  }
  return place;
}

/** Set what is quoted as code in a text apart from the rest. */
export function renderProse(text: string): (Node | string)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? createElement("code", {}, part) : part));
}
