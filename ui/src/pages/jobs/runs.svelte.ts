// The last run of each job that is shown: read once, and again when something is heard of it.

import { SvelteMap } from "svelte/reactivity";
import type { FeedEvent } from "../../api/feed.ts";
import type { JobShape, RunShape } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";

export class LastRuns {
  readonly #runs = new SvelteMap<number, RunShape>();
  readonly #asked = new Set<number>();

  of(job: number): RunShape | undefined {
    return this.#runs.get(job);
  }

  /** Know the last runs of these until the answer is called. */
  follow(jobs: readonly JobShape[]): () => void {
    for (const { id } of jobs) if (!this.#asked.has(id)) this.#read(id);
    return hub.hear({
      onEvent: (event) => this.#hear(event),
      onReload: () => jobs.forEach(({ id }) => this.#read(id)),
    });
  }

  #hear({ kind, subject, session_id }: FeedEvent): void {
    if (kind === "job.changed" && subject !== null && this.#asked.has(subject)) this.#read(subject);
    if (session_id === null || !kind.startsWith("turn.")) return;
    for (const [id, run] of this.#runs) if (run.session === session_id) this.#read(id);
  }

  #read(id: number): void {
    this.#asked.add(id);
    hub.client.call("list_runs", { path: { id }, query: { most: 1 } }).then(
      ({ data: { items } }) => items[0] && this.#runs.set(id, items[0]),
      // The job may be gone by now; a line without its last run says nothing wrong.
      () => this.#asked.delete(id),
    );
  }
}
