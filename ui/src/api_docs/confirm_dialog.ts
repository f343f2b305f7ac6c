// The confirmation before a request that deletes something.

import { apiDocs as strings } from "../strings/api_docs.ts";
import { createElement, createId } from "./dom.ts";

/** Ask whether a request shall be sent; `Escape` means no. */
export function confirmRequest(line: string): Promise<boolean> {
  const title = createElement("h2", { id: createId() }, strings.sure.title);
  const cancel = createElement("button", { type: "submit", value: "" }, strings.sure.cancel);
  const send = createElement("button", { type: "submit", value: "yes", class: "danger" }, strings.sure.send);
  const form = createElement("form", { method: "dialog" }, createElement("div", { class: "acts" }, cancel, send));
  const what = createElement("p", {}, createElement("code", {}, line));
  const dialog = createElement("dialog", { "aria-labelledby": title.id }, title, createElement("p", {}, strings.sure.text), what, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
