import type { ProjectColor } from "../api/schema.ts";

const colors: Readonly<Record<ProjectColor, string>> = {
  gray: "Gray",
  red: "Red",
  orange: "Orange",
  yellow: "Yellow",
  green: "Green",
  teal: "Teal",
  blue: "Blue",
  purple: "Purple",
  pink: "Pink",
};

export const projects = {
  title: "Projects",
  intro: "Conversations that belong together. A conversation is in one project, or in none.",
  list: "All projects",
  none: { title: "There is no project yet", text: "Make one, then move conversations into it from their menu." },
  make: "New project",
  makeDo: "Make it",
  change: "Change",
  name: "Name",
  nameHint: "Garden",
  color: "Colour",
  colors,
  sessions: (many: number) => (many === 0 ? "No conversations" : many === 1 ? "1 conversation" : `${many} conversations`),
  scheduled: "what jobs asked by themselves",
  menu: (name: string) => `More for ${name}`,
  show: "Show its conversations",
  remove: "Delete",
  removeTitle: (name: string) => `Delete the project ${name}?`,
  removeHelp: (many: number) =>
    many === 0
      ? "There are no conversations in it."
      : many === 1
        ? "Its conversation stays, and belongs to no project from then on."
        : `Its ${many} conversations stay, and belong to no project from then on.`,
  removed: (name: string) => `${name} is deleted.`,
};
