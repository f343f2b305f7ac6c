// What the details tell of a conversation beside its row: read when they open, and again when events say so.

import type { FeedEvent } from "../../api/feed.ts";
import type { ContextShape, DeliveryShape, JobShape, PolicyView } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { Errands } from "../errands.ts";

const MOST = 20;

export class Facts {
  context = $state.raw<ContextShape | null>(null);
  policy = $state.raw<PolicyView | null>(null);
  jobs = $state.raw<readonly JobShape[]>([]);
  deliveries = $state.raw<readonly DeliveryShape[]>([]);
  error = $state.raw<unknown>(null);
  readonly #errands = new Errands((error) => this.#fail(error));
  readonly #hush: () => void;

  constructor(readonly id: string) {
    this.#hush = hub.hear({ onEvent: (event) => this.#hear(event), onReload: () => this.read() });
    this.read();
  }

  /** Read everything, and keep what is shown until it is there. */
  read(): void {
    this.error = null;
    this.#readContext();
    this.#readPolicy();
    this.#readDeliveries();
    this.#readJobs();
  }

  close(): void {
    this.#hush();
    this.#errands.close();
  }

  #hear({ kind, session_id }: FeedEvent): void {
    if (kind === "job.changed") this.#readJobs();
    if (kind === "settings.changed") this.#readPolicy();
    if (session_id !== this.id) return;
    const [noun, state] = kind.split(".");
    const isTurnOver = noun === "turn" && state !== "queued" && state !== "running" && state !== "waiting";
    if (isTurnOver || kind === "transcript.changed" || noun === "session") this.#readContext();
    if (isTurnOver || noun === "session") this.#readPolicy();
    if (noun === "delivery" && state !== "sending") this.#readDeliveries();
  }

  #readContext(): void {
    const path = { id: this.id };
    this.#want("context", async () => void (this.context = (await hub.client.call("read_context", { path })).data));
  }

  #readPolicy(): void {
    const path = { id: this.id };
    this.#want("policy", async () => void (this.policy = (await hub.client.call("read_policy", { path })).data));
  }

  #readDeliveries(): void {
    const query = { session: this.id, most: MOST };
    this.#want("deliveries", async () => {
      this.deliveries = (await hub.client.call("list_deliveries", { query })).data.items;
    });
  }

  #readJobs(): void {
    const query = { profile: hub.profile, most: 200 };
    this.#want("jobs", async () => void (this.jobs = (await hub.client.call("list_jobs", { query })).data.items));
  }

  /** What cannot be reached is read once the connection is back. */
  #fail(error: unknown): boolean {
    this.error = error;
    return true;
  }

  #want(name: string, read: () => Promise<void>): void {
    void this.#errands.want(name, read);
  }
}
