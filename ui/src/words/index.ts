// All that the app says, in one place. What only a page says is loaded with that page.

export * as words from "./rooms.ts";
