// The form that sends a request of one operation.

import { createKey } from "../api/idempotency.ts";
import { apiDocs as strings } from "../strings/api_docs.ts";
import type { Authentication } from "./authentication.ts";
import { confirmRequest } from "./confirm_dialog.ts";
import { CurlCommand } from "./curl_command.ts";
import { createButton, createElement } from "./dom.ts";
import type { Operation } from "./openapi.ts";
import { type ApiRequest, buildRequest, formatCurl } from "./request.ts";
import { RequestInputs } from "./request_inputs.ts";
import { getJsonError } from "./response.ts";
import { ResponsePanel } from "./response_panel.ts";

const SUCCEEDED = 300;

export class RequestForm {
  readonly element: HTMLFormElement;
  readonly #operation: Operation;
  readonly #authentication: Authentication;
  readonly #onDone: () => void;
  readonly #inputs: RequestInputs;
  readonly #curl = new CurlCommand();
  readonly #response = new ResponsePanel();
  readonly #sendButton = createElement("button", { type: "submit", class: "main" }, strings.send);
  readonly #stopButton = createButton(strings.stop, () => this.stop());
  #running: AbortController | null = null;

  constructor(operation: Operation, authentication: Authentication, onDone: () => void) {
    this.#operation = operation;
    this.#authentication = authentication;
    this.#onDone = onDone;
    this.#inputs = new RequestInputs(operation);
    this.#stopButton.hidden = true;
    this.element = createElement(
      "form",
      { class: "trial", "aria-label": `${strings.try}: ${operation.method} ${operation.path}` },
      createElement("h3", {}, strings.try),
      this.#inputs.element,
      createElement("div", { class: "acts" }, this.#sendButton, this.#stopButton),
      this.#response.element,
      this.#curl.element,
    );
    this.element.addEventListener("input", () => this.#updateCurl());
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

  #buildRequest(): ApiRequest {
    return buildRequest(this.#operation, this.#inputs.values(), this.#inputs.body());
  }

  #renewKey(): void {
    this.#inputs.renewKey(createKey());
    this.#updateCurl();
  }

  #updateCurl(): void {
    this.#curl.setText(formatCurl(this.#buildRequest(), location.origin));
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#updateCurl();
    const request = this.#buildRequest();
    const fault = this.#findError(request);
    if (fault !== null) {
      this.#response.showMessage(fault, true);
      return;
    }
    if (this.#operation.isDeleting && !(await confirmRequest(`${request.method} ${request.address}`))) return;
    this.#setRunning(new AbortController());
    this.#response.showMessage(strings.sending);
    await this.#send(request);
    this.#setRunning(null);
  }

  #findError({ body }: ApiRequest): string | null {
    if (this.#operation.body?.kind === "file") return body ? null : strings.fileMissing;
    const why = typeof body === "string" ? getJsonError(body) : null;
    return why === null ? null : strings.noJson(why);
  }

  async #send({ method, address, headers, body }: ApiRequest): Promise<void> {
    const signal = this.#running?.signal ?? null;
    try {
      const credentials = await this.#authentication.authorize(method);
      const begun = performance.now();
      const response = await fetch(address, {
        method,
        body,
        signal,
        credentials: credentials.credentials,
        headers: { ...headers, ...credentials.headers },
        cache: "no-store",
      });
      if (response.status < SUCCEEDED) this.#renewKey();
      await this.#response.show(response, performance.now() - begun);
    } catch (error) {
      if (signal?.aborted) this.#response.showEnd(strings.stopped);
      else this.#response.showMessage(strings.unsent(error instanceof Error ? error.message : String(error)), true);
    }
    this.#onDone();
  }

  #setRunning(running: AbortController | null): void {
    const isStopFocused = document.activeElement === this.#stopButton;
    this.#running = running;
    this.#sendButton.setAttribute("aria-disabled", String(running !== null));
    this.#stopButton.hidden = running === null;
    if (running === null && isStopFocused) this.#sendButton.focus();
  }
}
