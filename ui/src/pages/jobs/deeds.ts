// What can be done with a job, and what is told of it. The feed brings what came of it.

import { once } from "../../api/once.ts";
import type { JobShape } from "../../api/schema.ts";
import type { Choice } from "../../design/choice.ts";
import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { words } from "../../words/index.ts";

const said = words.jobs;

/** Start it at once, whatever its schedule says. */
export async function run({ id }: JobShape): Promise<void> {
  await notices.attempt(async () => {
    const { data } = await hub.client.call("run_job", { path: { id }, header: once() });
    notices.tell(data.why ?? said.ran(data.state));
  });
}

export async function pause(job: JobShape): Promise<void> {
  const path = { id: job.id };
  const isDone = await notices.attempt(() => hub.client.call("pause_job", { path }));
  if (isDone) notices.tell(said.rests, () => void resume(job));
}

export async function resume({ id }: JobShape): Promise<void> {
  if (await notices.attempt(() => hub.client.call("resume_job", { path: { id } }))) notices.tell(said.goesOn);
}

/** List what can be done with a job. */
export function choicesOf(job: JobShape, ask: (what: "change" | "delete") => void): (Choice | null)[] {
  return [
    { label: said.run, icon: "forward", run: () => void run(job) },
    job.paused_at
      ? { label: said.resume, icon: "restore", run: () => void resume(job) }
      : { label: said.pause, icon: "moon", run: () => void pause(job) },
    { label: said.change, icon: "edit", run: () => ask("change") },
    null,
    { label: said.remove, icon: "trash", isDanger: true, run: () => ask("delete") },
  ];
}
