import type { IconName } from "./icons.ts";

/** One line of a menu; `null` between two of them is a rule. */
export interface MenuItem {
  label: string;
  icon?: IconName;
  isDanger?: boolean;
  isSelected?: boolean;
  hint?: string;
  run: () => void;
}
