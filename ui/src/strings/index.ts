// All texts of the app. The texts of a page are loaded with that page.

export * as strings from "./sections.ts";
