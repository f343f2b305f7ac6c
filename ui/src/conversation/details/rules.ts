// By which rule a conversation ends by itself, and who shares it, in words.

import type { PolicyView } from "../../api/schema.ts";
import { words } from "../../words/index.ts";

const said = words.details.policy;

/** Tell what ends a conversation. */
export function ruleOf({ mode, idle_minutes, at_hour, timezone }: PolicyView): string {
  const hour = `${String(at_hour).padStart(2, "0")}:00`;
  return said.rules[mode](silence(idle_minutes), said.hour(hour, timezone));
}

/** Tell whether several people speak in a conversation: none of its routes is for one of them alone. */
export function isShared(routes: readonly string[]): boolean {
  return routes.some((route) => kindOf(route) !== "dm" && !route.includes(":member="));
}

/** Each part of a route is escaped, so that a colon only ever stands between two. */
function kindOf(route: string): string {
  return route.split(":")[3] ?? "";
}

function silence(minutes: number): string {
  if (minutes % 1440 === 0) return said.spans.days(minutes / 1440);
  if (minutes % 60 === 0) return said.spans.hours(minutes / 60);
  return said.spans.minutes(minutes);
}
