// What the details tell of a conversation beside its row: read when they open, and again when events say so.

import type { FeedEvent } from "../../api/feed.ts";
import type { ContextView, DeliveryView, DeliveryState, JobView, PolicyView } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import { isRejected } from "../../state/errors.ts";
import { RequestQueue } from "../../state/request_queue.ts";
import { FAILED_STATES } from "../conversation_api.ts";

/** How it stands with what has not arrived (yet). */
const OPEN: readonly DeliveryState[] = ["pending", "sending", ...FAILED_STATES];
const MOST = 20;

export class SessionDetails {
  context = $state.raw<ContextView | null>(null);
  policy = $state.raw<PolicyView | null>(null);
  jobs = $state.raw<readonly JobView[]>([]);
  /** What has not arrived (yet); null: that is not known. */
  deliveries = $state.raw<readonly DeliveryView[] | null>(null);
  #unread = $state.raw<ReadonlySet<string>>(new Set());
  readonly #requests = new RequestQueue((error) => !isRejected(error));
  readonly #unsubscribe: () => void;

  constructor(readonly id: string) {
    this.#unsubscribe = app.subscribe({
      onEvent: (event) => this.#hear(event),
      onReload: () => this.read(),
      onReconnect: () => this.#requests.retryFailed(),
    });
    this.read();
  }

  /** Some of it could not be read. */
  get isUnread(): boolean {
    return this.#unread.size > 0;
  }

  /** Read everything, and keep what is shown until it is there. */
  read(): void {
    this.#readContext();
    this.#readPolicy();
    this.#readDeliveries();
    this.#readJobs();
  }

  close(): void {
    this.#unsubscribe();
    this.#requests.close();
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
    this.#enqueue("context", async () => void (this.context = (await app.client.call("read_context", { path })).data));
  }

  #readPolicy(): void {
    const path = { id: this.id };
    this.#enqueue("policy", async () => void (this.policy = (await app.client.call("read_policy", { path })).data));
  }

  #readDeliveries(): void {
    const query = { session: this.id, state: [...OPEN], most: MOST };
    this.#enqueue("deliveries", async () => {
      this.deliveries = (await app.client.call("list_deliveries", { query })).data.items;
    });
  }

  #readJobs(): void {
    const query = { profile: app.profile, most: 200 };
    this.#enqueue("jobs", async () => void (this.jobs = (await app.client.call("list_jobs", { query })).data.items));
  }

  /** Read something; what cannot be read now is once the connection is back. */
  #enqueue(name: string, read: () => Promise<void>): void {
    void this.#requests.run(name, async () => {
      try {
        await read();
        this.#mark(name, false);
      } catch (error) {
        this.#mark(name, true);
        throw error;
      }
    });
  }

  #mark(name: string, isUnread: boolean): void {
    const others = [...this.#unread].filter((one) => one !== name);
    this.#unread = new Set(isUnread ? [...others, name] : others);
  }
}
