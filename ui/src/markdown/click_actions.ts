// Clicks in rendered Markdown, handled by one listener, since blocks come and go.

import { copyText } from "../state/clipboard.ts";
import { notices } from "../state/notices.svelte.ts";
import { getCode, showMoreRows, toggleCode } from "./code_folding.ts";

export interface ShownImage {
  address: string;
  name: string;
}

/** Listen to a rendered text; `show` opens one of its pictures. */
export function listenForClicks(container: HTMLElement, show: (picture: ShownImage) => void): () => void {
  const act = (event: MouseEvent): void => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-do]") : null;
    if (!button || !container.contains(button)) return;
    const figure = button.closest("figure");
    if (button.dataset.do === "rows") showMoreRows(button);
    else if (button.dataset.do === "enlarge") enlarge(button, show);
    else if (figure && button.dataset.do === "copy") void notices.attempt(() => copyText(getCode(figure)));
    else if (figure && button.dataset.do === "unfold") toggleCode(figure);
  };
  container.addEventListener("click", act);
  return () => container.removeEventListener("click", act);
}

function enlarge(button: HTMLElement, show: (picture: ShownImage) => void): void {
  const image = button.querySelector("img");
  if (image) show({ address: image.src, name: image.alt });
}
