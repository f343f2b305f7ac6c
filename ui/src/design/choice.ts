import type { IconName } from "./icons.ts";

/** One line of a menu; `null` between two of them is a rule. */
export interface Choice {
  label: string;
  icon?: IconName;
  isDanger?: boolean;
  isChosen?: boolean;
  hint?: string;
  run: () => void;
}
