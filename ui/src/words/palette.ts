import type { Kind } from "../shell/palette/ranking.ts";

const kinds: Record<Kind, string> = {
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
  asking: "Looking…",
  none: "Nothing fits.",
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
        [["↑", "↓"], "Walk"],
        [["Enter"], "Open"],
        [["Space"], "Choose"],
        [["⇧↑", "⇧↓"], "Choose on"],
        [["Delete"], "Delete what was chosen"],
        [["Esc"], "Choose none"],
      ],
    },
    {
      where: "In a conversation",
      keys: [
        [["↑", "↓ "], "Walk along the line, from one of its nodes"],
        [["Esc", "Esc "], "Stop the agent"],
      ],
    },
  ],
  banners: {
    keeping: "Nothing can be kept just now",
    reading: "Nothing can be read just now",
    text: "The store does not work. What you write is kept here meanwhile. Look at the server's log, and at its disk.",
  },
};
