// The projects of the profile, by name: for the colours of rows, for the filter, and to move into.

import type { CountedProjectView, ProjectColor } from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";

class Projects {
  all = $state.raw<readonly CountedProjectView[]>([]);
  #colors = $derived(new Map(this.all.map(({ project }) => [project.key, project.color])));

  /** Those that somebody made. */
  readonly own = $derived(this.all.map(({ project }) => project).filter(({ kind }) => kind === "own"));

  /** Know the projects, and keep them true until the answer is called. */
  start(): () => void {
    void this.#read();
    return app.subscribe({
      onEvent: ({ kind }) => kind === "project.changed" && void this.#read(),
      onReload: () => void this.#read(),
      onReconnect: () => void this.#read(),
    });
  }

  colorOf(key: number | null): ProjectColor | null {
    return key === null ? null : (this.#colors.get(key) ?? null);
  }

  nameOf(key: number | null): string | null {
    return this.all.find(({ project }) => project.key === key)?.project.name ?? null;
  }

  async #read(): Promise<void> {
    try {
      this.all = (await app.client.call("list_projects", { query: { profile: app.profile } })).data.items;
    } catch {
      // Rows are as good without their colours; they come with the connection, or with the next change.
    }
  }
}

export const projects = new Projects();
