// Parts of a page, made without a word of HTML: whatever is put in is text.

type Attributes = Readonly<Record<string, string | boolean>>;

let count = 0;

/** Make an element; an attribute that is `false` is left out. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
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
export function newId(): string {
  count += 1;
  return `manual-${count}`;
}

/** Make a button that does something. */
export function button(label: string, run: () => void, kind = ""): HTMLButtonElement {
  const made = make("button", { type: "button", class: kind }, label);
  made.addEventListener("click", run);
  return made;
}

/** Put a name above something to fill in, and what is to know about it below. */
export function labelled(input: HTMLElement, name: string, notes: string, about: string): HTMLElement {
  input.id = newId();
  const label = make("label", { for: input.id }, make("code", {}, name));
  if (notes) label.append(" ", make("small", {}, notes));
  const place = make("div", { class: "field" }, label, input);
  if (about) {
    const help = make("p", { id: newId() }, ...prose(about));
    input.setAttribute("aria-describedby", help.id);
    place.append(help);
  }
  return place;
}

/** Set what is quoted as code in a text apart from the rest. */
export function prose(text: string): (Node | string)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? make("code", {}, part) : part));
}
