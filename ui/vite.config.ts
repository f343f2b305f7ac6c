import { svelte } from "@sveltejs/vite-plugin-svelte";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Write a compressed copy beside each script and style, so that the server need not compress anything. */
function compressed(): Plugin {
  return {
    name: "compressed",
    enforce: "post",
    generateBundle: {
      // Only after all others: some of them still write into the chunks.
      order: "post",
      handler(_, bundle) {
        for (const [name, file] of Object.entries(bundle)) {
          if (!/\.(css|js)$/.test(name)) continue;
          const source = file.type === "chunk" ? file.code : file.source;
          this.emitFile({ type: "asset", fileName: `${name}.gz`, source: gzipSync(source, { level: 9 }) });
        }
      },
    },
  };
}

/** Add the licences of the viewer of the API, and of what is bundled in it. */
function viewerLicences(): Plugin {
  return {
    name: "viewer-licences",
    generateBundle() {
      for (const name of ["LICENSE", "NOTICE", "swagger-ui-es-bundle.js.LICENSE.txt"]) {
        const source = readFileSync(new URL(`node_modules/swagger-ui-dist/${name}`, import.meta.url));
        this.emitFile({ type: "asset", fileName: `licences/swagger-ui-dist/${name}`, source });
      }
    },
  };
}

// Where the server is while the app is being worked on.
const target = process.env.VITE_SERVER ?? "http://127.0.0.1:8642";
// To the server its own page asks: it takes changes from no other.
const server = { target, changeOrigin: true, headers: { origin: target } };

export default defineConfig({
  plugins: [svelte(), compressed(), viewerLicences()],
  build: {
    outDir: "../src/threadline/web/built",
    emptyOutDir: true,
    // A file that is written into a page as a data address would be against the page's own policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Kilobytes; the largest one is the viewer of the API, which only its own page loads.
    chunkSizeWarningLimit: 1800,
    target: "es2022",
    // By it the server finds what its own page of the API loads.
    manifest: "manifest.json",
    // Diagrams are drawn in a frame of their own.
    rolldownOptions: {
      input: { index: "index.html", diagram: "diagram.html", api_docs: "src/api_docs/main.ts" },
    },
  },
  // Tests look at the colours themselves.
  test: { css: { include: [/tokens\.css/] }, pool: "threads" },
  // What colours code loads only the languages that it needs.
  worker: { format: "es" },
  server: { proxy: { "/api": server, "/login": server, "^/s/": server } },
});
