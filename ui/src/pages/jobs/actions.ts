// Actions on a job, with their notices. The feed brings the results.

import type { FeedEvent } from "../../api/feed.ts";
import { createKeyHeader } from "../../api/idempotency.ts";
import type { JobView, RunView } from "../../api/schema.ts";
import type { MenuItem } from "../../design/menu_item.ts";
import { app } from "../../state/app.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { strings } from "../../strings/index.ts";

const labels = strings.jobs;

/** Start it at once, whatever its schedule says. */
export async function runJob({ id }: JobView): Promise<void> {
  await notices.attempt(async () => {
    const { data } = await app.client.call("run_job", { path: { id }, header: createKeyHeader() });
    notices.show(data.why ?? labels.ran(data.state));
  });
}

export async function pauseJob(job: JobView): Promise<void> {
  const path = { id: job.id };
  const isDone = await notices.attempt(() => app.client.call("pause_job", { path }));
  if (isDone) notices.show(labels.rests, () => void resumeJob(job));
}

export async function resumeJob({ id }: JobView): Promise<void> {
  if (await notices.attempt(() => app.client.call("resume_job", { path: { id } }))) notices.show(labels.goesOn);
}

/** List what can be done with a job. */
export function listJobMenuItems(job: JobView, ask: (what: "change" | "delete") => void): (MenuItem | null)[] {
  return [
    { label: labels.run, icon: "forward", run: () => void runJob(job) },
    job.paused_at
      ? { label: labels.resume, icon: "restore", run: () => void resumeJob(job) }
      : { label: labels.pause, icon: "moon", run: () => void pauseJob(job) },
    { label: labels.change, icon: "edit", run: () => ask("change") },
    null,
    { label: labels.remove, icon: "trash", isDanger: true, run: () => ask("delete") },
  ];
}

/** Tell whether an event is about jobs, or about one of these runs: each goes on in its own conversation. */
export function isRunEvent({ kind, session_id }: FeedEvent, runs: readonly (RunView | null)[]): boolean {
  if (kind === "job.changed") return true;
  return kind.startsWith("turn.") && session_id !== null && runs.some((runJob) => runJob?.session === session_id);
}
