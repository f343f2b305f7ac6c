import { mount } from "svelte";
import "./design/base.css";
import App from "./shell/App.svelte";
import { reloadPageOnce } from "./state/page_reload.ts";

// A newer build may have taken the place of what this page would load next.
addEventListener("vite:preloadError", () => void reloadPageOnce());

const target = document.getElementById("app");
if (target) mount(App, { target });
