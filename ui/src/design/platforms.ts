// Names and icons of platforms, drawn on a grid of 16.

import { common } from "../strings/common.ts";

export const PLATFORM_ICONS: Readonly<Record<string, string>> = {
  local: "M2.5 3.5h11v9h-11zM5 6.5l1.5 1.5L5 9.5M8 10h3",
  web: "M2.5 3.5h11v9h-11zM2.5 6h11",
  telegram: "M13.5 2.5 2.5 7l3.5 1.5M13.5 2.5 11.5 13 6 8.5M13.5 2.5 6 8.5V12l1.8-1.8",
  discord: "M5 4c2-.7 4-.7 6 0l2 5c.3 1.5-.5 2.5-2 3l-1-1.5H6L5 12c-1.5-.5-2.3-1.5-2-3zM6.3 8v.1M9.7 8v.1",
  slack: "M6.5 2.5v8M9.5 5.5v8M2.5 6.5h8M5.5 9.5h8",
  matrix: "M4 2.5H2.5v11H4M12 2.5h1.5v11H12M5.5 10.5V6M5.5 7c1-1.3 2.5-1.3 2.5 0v3.5M8 7c1-1.3 2.5-1.3 2.5 0v3.5",
  whatsapp: "M3 13l.7-2.3A5.5 5.5 0 1 1 5.7 12.5zM6 6c.3 2 2 3.7 4 4",
  signal: "M8 2.5a5.5 5.5 0 1 1-2.7 10.3L2.8 13.5l.6-2.5A5.5 5.5 0 0 1 8 2.5z",
  email: "M2.5 4h11v8h-11zM2.5 4.5 8 9l5.5-4.5",
  webhook: "M8 5a2 2 0 1 0-1.8-1.2L4 9M8 5a2 2 0 1 1 1.7-.6L12 9M4 9a2 2 0 1 0 2 2.5h4M10 11.5A2 2 0 1 0 12 9",
};

/** Call a platform by its name. */
export function getPlatformName(platform: string): string {
  return common.platforms[platform] ?? platform.charAt(0).toUpperCase() + platform.slice(1);
}

/** Tell whether what is said there is said at this machine or in this app, by its own people. */
export function isLocalPlatform(platform: string): boolean {
  return platform === "local" || platform === "web";
}
