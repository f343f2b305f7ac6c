// The form by which one operation is tried out.

import { newKey } from "../api/once.ts";
import { manual as words } from "../words/manual.ts";
import { ask, writeCurl, type Asking } from "./asking.ts";
import type { Caller } from "./caller.ts";
import type { Operation } from "./description.ts";
import { button, make } from "./dom.ts";
import { Inputs } from "./inputs.ts";
import { Line } from "./line.ts";
import { faultOf } from "./reading.ts";
import { Answer } from "./shown.ts";
import { isSure } from "./sure.ts";

const SUCCEEDED = 300;

export class Trial {
  readonly element: HTMLFormElement;
  readonly #operation: Operation;
  readonly #caller: Caller;
  readonly #onDone: () => void;
  readonly #inputs: Inputs;
  readonly #line = new Line();
  readonly #answer = new Answer();
  readonly #send = make("button", { type: "submit", class: "main" }, words.send);
  readonly #stop = button(words.stop, () => this.stop());
  #running: AbortController | null = null;

  constructor(operation: Operation, caller: Caller, onDone: () => void) {
    this.#operation = operation;
    this.#caller = caller;
    this.#onDone = onDone;
    this.#inputs = new Inputs(operation);
    this.#stop.hidden = true;
    this.element = make(
      "form",
      { class: "trial", "aria-label": `${words.try}: ${operation.method} ${operation.path}` },
      make("h3", {}, words.try),
      this.#inputs.element,
      make("div", { class: "acts" }, this.#send, this.#stop),
      this.#answer.element,
      this.#line.element,
    );
    this.element.addEventListener("input", () => this.#write());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#run();
    });
    this.#renewKey();
  }

  /** End what is still under way. */
  stop(): void {
    this.#running?.abort();
  }

  #asking(): Asking {
    return ask(this.#operation, this.#inputs.filled(), this.#inputs.body());
  }

  #renewKey(): void {
    this.#inputs.renewKey(newKey());
    this.#write();
  }

  #write(): void {
    this.#line.write(writeCurl(this.#asking(), location.origin));
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#write();
    const asking = this.#asking();
    const fault = this.#fault(asking);
    if (fault !== null) {
      this.#answer.say(fault, true);
      return;
    }
    if (this.#operation.isDeleting && !(await isSure(`${asking.method} ${asking.address}`))) return;
    this.#setRunning(new AbortController());
    this.#answer.say(words.sending);
    await this.#exchange(asking);
    this.#setRunning(null);
  }

  #fault({ body }: Asking): string | null {
    if (this.#operation.body?.kind === "file") return body ? null : words.fileMissing;
    const why = typeof body === "string" ? faultOf(body) : null;
    return why === null ? null : words.noJson(why);
  }

  async #exchange({ method, address, headers, body }: Asking): Promise<void> {
    const signal = this.#running?.signal ?? null;
    try {
      const shown = await this.#caller.show(method);
      const begun = performance.now();
      const response = await fetch(address, {
        method,
        body,
        signal,
        credentials: shown.credentials,
        headers: { ...headers, ...shown.headers },
        cache: "no-store",
      });
      if (response.status < SUCCEEDED) this.#renewKey();
      await this.#answer.show(response, performance.now() - begun);
    } catch (error) {
      if (signal?.aborted) this.#answer.end(words.stopped);
      else this.#answer.say(words.unsent(error instanceof Error ? error.message : String(error)), true);
    }
    this.#onDone();
  }

  #setRunning(running: AbortController | null): void {
    const isStopFocused = document.activeElement === this.#stop;
    this.#running = running;
    this.#send.setAttribute("aria-disabled", String(running !== null));
    this.#stop.hidden = running === null;
    if (running === null && isStopFocused) this.#send.focus();
  }
}
