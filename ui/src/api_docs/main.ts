// The page of the HTTP API: Swagger UI with the description of this server.

import SwaggerUI, { type ViewerPlugin } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import { apiDocs as strings } from "../strings/api_docs.ts";
import "./api_docs.css";
import { authorize, type Login, readLogin } from "./login.ts";
import { resolveReferences } from "./references.ts";

/** Offer no try-out of event streams: the viewer reads a response to its end, which a stream does not have. */
const noTryOutOfStreams: ViewerPlugin = {
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor: (original, { specSelectors }) => (state, path, method) =>
          original(state, path, method) &&
          !specSelectors.specJson().getIn(["paths", path, method, "responses", "200", "content", "text/event-stream"]),
      },
    },
  },
};

/**
 * Leave out what does nothing here: the choice of one server, the value of a cookie that a page cannot set, and links
 * inside buttons that do the same.
 */
const leftOut: ViewerPlugin = {
  wrapComponents: {
    ServersContainer: () => () => null,
    apiKeyAuth: () => () => null,
    DeepLink: () => ({ text }) => text,
  },
};

/** Resolve references by our own few lines: the viewer would parse the whole document again for every operation. */
const ownReferences: ViewerPlugin = {
  fn: { resolveSubtree: async (document, path) => ({ errors: [], spec: resolveReferences(document, path) }) },
};

function showLogin(status: Element, login: Login): void {
  status.textContent = login.kind === "account" ? strings.login(login.name) : strings[login.kind];
  if (login.kind !== "nobody") return;
  const link = document.createElement("a");
  link.href = "/login";
  link.textContent = strings.logIn;
  status.append(" ", link);
}

function followColorScheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => void document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

function start(viewer: Element, status: Element): void {
  const read = async (): Promise<Login> => {
    const login = await readLogin();
    showLogin(status, login);
    return login;
  };
  followColorScheme();
  void read();
  SwaggerUI({
    url: "/api/openapi.json",
    domNode: viewer,
    validatorUrl: null, // It would send the address of this server to another one.
    deepLinking: true,
    docExpansion: "none", // Past 150 rows the viewer draws only those near the window.
    syntaxHighlight: { theme: "tomorrow-night" }, // The usual one is too pale.
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    filter: true,
    showMutatedRequest: false, // The command for curl is shown without the CSRF token.
    plugins: [noTryOutOfStreams, leftOut, ownReferences],
    requestInterceptor: (request) => authorize(request, read),
  });
}

const [viewer, status] = [document.querySelector("#viewer"), document.querySelector("[role=status]")];
if (viewer && status) start(viewer, status);
