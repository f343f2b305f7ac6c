// Links to the pages, in the order of the menu.

import type { IconName } from "../design/icons.ts";
import { app } from "../state/app.svelte.ts";
import { router } from "../state/router.svelte.ts";
import { strings } from "../strings/index.ts";

export interface PageLink {
  name: keyof typeof strings.sidebar.places;
  label: string;
  icon: IconName;
  run: () => void;
}

const ICONS: Readonly<Record<PageLink["name"], IconName>> = {
  settings: "settings",
  people: "people",
  platforms: "plug",
  jobs: "job",
  spend: "coins",
  projects: "folder",
  shares: "share",
  welcome: "help",
};
const OWNERS: readonly PageLink["name"][] = ["people", "platforms", "projects"];

/** List the ways to the pages that somebody may see. */
export function listPageLinks(): PageLink[] {
  const names = (Object.keys(ICONS) as PageLink["name"][]).filter((name) => app.isOwner || !OWNERS.includes(name));
  return names.map((name) => ({
    name,
    label: strings.sidebar.places[name],
    icon: ICONS[name],
    run: () => router.navigate(`/${name}`),
  }));
}
