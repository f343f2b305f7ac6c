// The question that stands before what deletes something.

import { manual as words } from "../words/manual.ts";
import { make, newId } from "./dom.ts";

/** Ask whether a request shall be sent; `Escape` means no. */
export function isSure(line: string): Promise<boolean> {
  const title = make("h2", { id: newId() }, words.sure.title);
  const cancel = make("button", { type: "submit", value: "" }, words.sure.cancel);
  const send = make("button", { type: "submit", value: "yes", class: "danger" }, words.sure.send);
  const form = make("form", { method: "dialog" }, make("div", { class: "acts" }, cancel, send));
  const what = make("p", {}, make("code", {}, line));
  const dialog = make("dialog", { "aria-labelledby": title.id }, title, make("p", {}, words.sure.text), what, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
