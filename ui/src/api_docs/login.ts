// Who sends the requests of the page: the logged-in account, or a token entered in the viewer.

import type { ViewerRequest } from "swagger-ui-dist/swagger-ui-es-bundle.js";

/** The account that is logged in and its CSRF token, or the reason why there is none. */
export type Login = { kind: "account"; name: string; csrf: string | null } | { kind: "nobody" } | { kind: "away" };

interface Me {
  account?: { name?: string };
  csrf?: string | null;
}

/** Read who is logged in. */
export async function readLogin(): Promise<Login> {
  try {
    const response = await fetch("/api/me", { credentials: "same-origin" });
    if (response.status === 401) return { kind: "nobody" };
    if (!response.ok) return { kind: "away" };
    const me = (await response.json()) as Me;
    return { kind: "account", name: me.account?.name ?? "", csrf: me.csrf ?? null };
  } catch {
    return { kind: "away" };
  }
}

/**
 * Add the login to a request. With a token no cookie is sent; a write by cookie gets the CSRF token of the current
 * login, which may have changed since the page was opened.
 */
export async function authorize(request: ViewerRequest, read: () => Promise<Login>): Promise<ViewerRequest> {
  if (request.headers.Authorization) return { ...request, credentials: "omit" };
  const isRead = request.loadSpec || (request.method ?? "GET").toUpperCase() === "GET";
  const login = isRead ? null : await read();
  const csrf = login?.kind === "account" ? login.csrf : null;
  const headers = csrf ? { ...request.headers, "X-CSRF-Token": csrf } : request.headers;
  return { ...request, headers, credentials: "same-origin" };
}
