// The filter of the operations.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { createElement, createField } from "./dom.ts";

/** Tell whether a text has all words of a query in it. */
export function matchesQuery(text: string, query: string): boolean {
  const low = text.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => low.includes(word));
}

/** Make the field; it hides what is not meant, and the links that would lead to nothing. */
export function createFilter(main: HTMLElement, nav: HTMLElement): HTMLElement {
  const operations = [...main.querySelectorAll<HTMLElement>("details[id]")];
  // Before forms are in them, which would be found as well.
  const texts = new Map(operations.map((one) => [one, `${one.id} ${one.textContent}`]));
  const field = createElement("input", { type: "search", placeholder: strings.filterHint, autocomplete: "off" });
  const told = createElement("p", { role: "status" });
  const narrow = (): void => {
    for (const one of operations) one.hidden = !matchesQuery(texts.get(one) ?? "", field.value.trim());
    for (const section of main.querySelectorAll("section")) {
      section.hidden = !section.querySelector("details[id]:not([hidden])");
      const link = nav.querySelector<HTMLElement>(`a[href="#${section.id}"]`);
      if (link) link.hidden = section.hidden;
    }
    const count = operations.filter((one) => !one.hidden).length;
    told.textContent = count > 0 ? strings.found(count, operations.length) : strings.none;
  };
  field.addEventListener("input", narrow);
  narrow();
  const place = createField(field, strings.filter, "", "");
  place.append(told);
  return createElement("search", { class: "filter" }, place);
}
