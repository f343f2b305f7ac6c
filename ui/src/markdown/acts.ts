// What somebody can do in a rendered text: one listener for all of it, since its parts come and go.

import { copy } from "../state/copying.ts";
import { notices } from "../state/notices.svelte.ts";
import { addRows, codeOf, turn } from "./unfolding.ts";

export interface Picture {
  address: string;
  name: string;
}

/** Listen to a rendered text; `show` opens one of its pictures. */
export function listen(container: HTMLElement, show: (picture: Picture) => void): () => void {
  const act = (event: MouseEvent): void => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-do]") : null;
    if (!button || !container.contains(button)) return;
    const figure = button.closest("figure");
    if (button.dataset.do === "rows") addRows(button);
    else if (button.dataset.do === "enlarge") enlarge(button, show);
    else if (figure && button.dataset.do === "copy") void notices.attempt(() => copy(codeOf(figure)));
    else if (figure && button.dataset.do === "unfold") turn(figure);
  };
  container.addEventListener("click", act);
  return () => container.removeEventListener("click", act);
}

function enlarge(button: HTMLElement, show: (picture: Picture) => void): void {
  const image = button.querySelector("img");
  if (image) show({ address: image.src, name: image.alt });
}
