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
  none: { title: "No projects yet", text: "Create one, then move conversations into it from their menu." },
  make: "New project",
  makeDo: "Create",
  change: "Edit",
  name: "Name",
  nameHint: "Garden",
  color: "Colour",
  colors,
  sessions: (many: number) => (many === 0 ? "No conversations" : many === 1 ? "1 conversation" : `${many} conversations`),
  scheduled: "runs of scheduled jobs",
  menu: (name: string) => `More for ${name}`,
  show: "Show its conversations",
  remove: "Delete",
  removeTitle: (name: string) => `Delete the project ${name}?`,
  removeHelp: (many: number) =>
    many === 0
      ? "There are no conversations in it."
      : many === 1
        ? "Its conversation is kept, without a project."
        : `Its ${many} conversations are kept, without a project.`,
  removed: (name: string) => `${name} was deleted.`,
};
