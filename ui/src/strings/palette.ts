import type { ItemKind } from "../shell/palette/ranking.ts";

const kinds: Record<ItemKind, string> = {
  conversation: "Conversation",
  message: "Message",
  command: "Command",
  page: "Page",
  setting: "Setting",
};

/** Keys that are pressed together or one after the other, and what they do. */
type Keys = readonly (readonly [pressed: readonly string[], does: string])[];

export const palette = {
  label: "Everything",
  ask: "Find anything",
  asking: "Searching…",
  none: "No results.",
  kinds,
  begin: "New conversation",
  theme: (name: string) => `Appearance: ${name}`,
  keys: "Keys",
  allKeys: (command: string): readonly { where: string; keys: Keys }[] => [
    {
      where: "Everywhere",
      keys: [
        [[`${command}K`], "Find everything"],
        [[`${command}⇧O`], "New conversation"],
        [["/"], "Search"],
        [["?"], "Show these keys"],
        [["g", "c"], "Go to the conversations"],
        [["g", "s"], "Go to the settings"],
        [["g", "p"], "Go to the people"],
        [["g", "j"], "Go to the jobs"],
        [["g", "l"], "Go to the platforms"],
        [["g", "f"], "Go to the projects"],
      ],
    },
    {
      where: "In the list",
      keys: [
        [["↑", "↓"], "Move"],
        [["Enter"], "Open"],
        [["Space"], "Select"],
        [["⇧↑", "⇧↓"], "Extend the selection"],
        [["Delete"], "Delete the selection"],
        [["Esc"], "Clear the selection"],
      ],
    },
    {
      where: "In a conversation",
      keys: [
        [["↑", "↓ "], "Move along the line, from one of its nodes"],
        [["Esc", "Esc "], "Stop the agent"],
      ],
    },
  ],
  banners: {
    write: "Nothing can be saved right now",
    read: "Nothing can be loaded right now",
    text:
      "The database is not working. What you write is kept in this browser for now. Check the server's log and its disk.",
  },
};
