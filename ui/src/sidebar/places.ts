// The pages beside the conversations, in the order in which they are offered.

import type { IconName } from "../design/icons.ts";
import { hub } from "../state/hub.svelte.ts";
import { place } from "../state/place.svelte.ts";
import { words } from "../words/index.ts";

export interface Way {
  name: keyof typeof words.sidebar.places;
  label: string;
  icon: IconName;
  run: () => void;
}

const ICONS: Readonly<Record<Way["name"], IconName>> = {
  settings: "settings",
  people: "people",
  platforms: "plug",
  jobs: "job",
  spend: "coins",
  projects: "folder",
  shares: "share",
  welcome: "help",
};
const OWNERS: readonly Way["name"][] = ["people", "platforms", "projects"];

/** List the ways to the pages that somebody may see. */
export function waysToPages(): Way[] {
  const names = (Object.keys(ICONS) as Way["name"][]).filter((name) => hub.isOwner || !OWNERS.includes(name));
  return names.map((name) => ({
    name,
    label: words.sidebar.places[name],
    icon: ICONS[name],
    run: () => place.go(`/${name}`),
  }));
}
