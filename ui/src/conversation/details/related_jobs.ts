// The jobs that are related to a conversation: those that send to its chat, or the one that it is a run of.

import type { JobView, SessionView } from "../../api/schema.ts";

/** Read platform and chat out of a route: `agent:main:telegram:dm:42` is `telegram:42`. */
export function parseRouteChat(route: string): string | null {
  const [, , platform = "", , chat = ""] = route.split(":");
  return platform && chat ? `${decodeURIComponent(platform)}:${decodeURIComponent(chat)}` : null;
}

/** Choose the jobs that concern a session. */
export function findRelatedJobs(
  jobs: readonly JobView[],
  session: Pick<SessionView, "origin" | "title">,
  routes: readonly string[],
): readonly JobView[] {
  const chats = routes.flatMap((route) => parseRouteChat(route) ?? []);
  return jobs.filter((job) => {
    const targets = job.target.split(",").map((target) => target.trim());
    const isIn = (target: string, chat: string): boolean => target === chat || target.startsWith(`${chat}:`);
    const isSpokenInto = targets.some((target) => chats.some((chat) => isIn(target, chat)));
    return isSpokenInto || (session.origin === "job" && session.title === job.name);
  });
}
