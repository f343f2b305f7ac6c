// The texts of the app by section.

export { account } from "./account.ts";
export { common } from "./common.ts";
export { composer } from "./composer.ts";
export { conversation } from "./conversation.ts";
export { details } from "./details.ts";
export { gallery } from "./gallery.ts";
export { jobs } from "./jobs.ts";
export { login } from "./login.ts";
export { message } from "./message.ts";
export { pages } from "./pages.ts";
export { palette } from "./palette.ts";
export { people } from "./people.ts";
export { platforms } from "./platforms.ts";
export { projects } from "./projects.ts";
export { settings } from "./settings.ts";
export { shares } from "./shares.ts";
export { sidebar } from "./sidebar.ts";
export { spend } from "./spend.ts";
export { welcome } from "./welcome.ts";
