// What the details tell of a conversation beside its row: read when they open, and again when events say so.

import type { FeedEvent } from "../../api/feed.ts";
import type { ContextShape, DeliveryShape, DeliveryState, JobShape, PolicyView } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { Errands } from "../../state/errands.ts";
import { isRefused } from "../outbox.svelte.ts";
import { LOST } from "../reading.ts";

/** How it stands with what has not arrived (yet). */
const OPEN: readonly DeliveryState[] = ["pending", "sending", ...LOST];
const MOST = 20;

export class Facts {
  context = $state.raw<ContextShape | null>(null);
  policy = $state.raw<PolicyView | null>(null);
  jobs = $state.raw<readonly JobShape[]>([]);
  /** What has not arrived (yet); null: that is not known. */
  deliveries = $state.raw<readonly DeliveryShape[] | null>(null);
  #unread = $state.raw<ReadonlySet<string>>(new Set());
  readonly #errands = new Errands((error) => !isRefused(error));
  readonly #hush: () => void;

  constructor(readonly id: string) {
    this.#hush = hub.hear({
      onEvent: (event) => this.#hear(event),
      onReload: () => this.read(),
      onBack: () => this.#errands.again(),
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
    const query = { session: this.id, state: [...OPEN], most: MOST };
    this.#want("deliveries", async () => {
      this.deliveries = (await hub.client.call("list_deliveries", { query })).data.items;
    });
  }

  #readJobs(): void {
    const query = { profile: hub.profile, most: 200 };
    this.#want("jobs", async () => void (this.jobs = (await hub.client.call("list_jobs", { query })).data.items));
  }

  /** Read something; what cannot be read now is once the connection is back. */
  #want(name: string, read: () => Promise<void>): void {
    void this.#errands.want(name, async () => {
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
