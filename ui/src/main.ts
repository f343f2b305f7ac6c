import { mount } from "svelte";
import "./design/base.css";
import App from "./shell/App.svelte";
import { renewOnce } from "./state/renewal.ts";

// A newer build may have taken the place of what this page would load next.
addEventListener("vite:preloadError", () => void renewOnce());

const target = document.getElementById("app");
if (target) mount(App, { target });
