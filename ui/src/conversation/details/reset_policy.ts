// The reset policy of a conversation in words.

import type { PolicyView } from "../../api/schema.ts";
import { strings } from "../../strings/index.ts";

const labels = strings.details.policy;

/** Tell what ends a conversation. */
export function describeResetPolicy({ mode, idle_minutes, at_hour, timezone }: PolicyView): string {
  const hour = `${String(at_hour).padStart(2, "0")}:00`;
  return labels.rules[mode](silence(idle_minutes), labels.hour(hour, timezone));
}

/** Tell whether several people speak in a conversation: none of its routes is for one of them alone. */
export function isSharedSession(routes: readonly string[]): boolean {
  return routes.some((route) => kindOf(route) !== "dm" && !route.includes(":member="));
}

/** Each part of a route is escaped, so that a colon only ever stands between two. */
function kindOf(route: string): string {
  return route.split(":")[3] ?? "";
}

function silence(minutes: number): string {
  if (minutes % 1440 === 0) return labels.spans.days(minutes / 1440);
  if (minutes % 60 === 0) return labels.spans.hours(minutes / 60);
  return labels.spans.minutes(minutes);
}
