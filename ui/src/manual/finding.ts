// The field that narrows the page down to some operations.

import { manual as words } from "../words/manual.ts";
import { labelled, make } from "./dom.ts";

/** Tell whether a text has all words of a query in it. */
export function isMeant(text: string, query: string): boolean {
  const low = text.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => low.includes(word));
}

/** Make the field; it hides what is not meant, and the links that would lead to nothing. */
export function makeFilter(main: HTMLElement, nav: HTMLElement): HTMLElement {
  const operations = [...main.querySelectorAll<HTMLElement>("details[id]")];
  // Before forms are in them, which would be found as well.
  const texts = new Map(operations.map((one) => [one, `${one.id} ${one.textContent}`]));
  const field = make("input", { type: "search", placeholder: words.filterHint, autocomplete: "off" });
  const told = make("p", { role: "status" });
  const narrow = (): void => {
    for (const one of operations) one.hidden = !isMeant(texts.get(one) ?? "", field.value.trim());
    for (const section of main.querySelectorAll("section")) {
      section.hidden = !section.querySelector("details[id]:not([hidden])");
      const link = nav.querySelector<HTMLElement>(`a[href="#${section.id}"]`);
      if (link) link.hidden = section.hidden;
    }
    const count = operations.filter((one) => !one.hidden).length;
    told.textContent = count > 0 ? words.found(count, operations.length) : words.none;
  };
  field.addEventListener("input", narrow);
  narrow();
  const place = labelled(field, words.filter, "", "");
  place.append(told);
  return make("search", { class: "filter" }, place);
}
