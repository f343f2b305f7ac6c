// The part of Swagger UI that the page uses; the package has no types.

declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  type Json = import("./references.ts").Json;

  /** A request that the viewer is about to send. */
  export interface ViewerRequest {
    url: string;
    method?: string;
    headers: Record<string, string>;
    credentials?: RequestCredentials;
    /** True for the description itself. */
    loadSpec?: boolean;
  }

  /** An immutable map, as far as it is read here. */
  interface ReadonlyImmutableMap {
    getIn(path: readonly string[]): unknown;
  }

  interface ViewerSystem {
    specSelectors: { specJson(): ReadonlyImmutableMap };
  }

  type TryItOutSelector = (state: unknown, path: string, method: string) => boolean;

  interface ViewerPlugin {
    fn?: {
      resolveSubtree: (document: Json, path: readonly string[]) => Promise<{ errors: []; spec: Json }>;
    };
    statePlugins?: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor: (original: TryItOutSelector, system: ViewerSystem) => TryItOutSelector;
        };
      };
    };
    wrapComponents?: Record<string, () => (props: { text?: unknown }) => unknown>;
  }

  interface ViewerOptions {
    url: string;
    domNode: Element;
    validatorUrl: null;
    deepLinking: boolean;
    docExpansion: "none";
    syntaxHighlight: { theme: "tomorrow-night" };
    defaultModelsExpandDepth: number;
    displayRequestDuration: boolean;
    filter: boolean;
    showMutatedRequest: boolean;
    plugins: readonly ViewerPlugin[];
    requestInterceptor: (request: ViewerRequest) => Promise<ViewerRequest>;
  }

  export default function SwaggerUI(options: ViewerOptions): unknown;
}
