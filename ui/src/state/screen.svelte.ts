// What kind of screen this is, and how somebody wants it.

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NARROW = "(max-width: 720px)";
const WIDE = "(min-width: 1200px)";

class Screen {
  isNarrow = $state(matchMedia(NARROW).matches);
  isWide = $state(matchMedia(WIDE).matches);
  theme = $state<Theme>(remembered());
  /** The clock of the screen: relative times are told anew every half minute. */
  now = $state(Date.now());
  /** The name of this browser, for drafts: each device has its own. */
  readonly device = device();

  constructor() {
    matchMedia(NARROW).addEventListener("change", (event) => (this.isNarrow = event.matches));
    matchMedia(WIDE).addEventListener("change", (event) => (this.isWide = event.matches));
    setInterval(() => (this.now = Date.now()), 30_000);
    this.#dress();
  }

  choose(theme: Theme): void {
    this.theme = theme;
    localStorage.setItem("theme", theme);
    this.#dress();
  }

  #dress(): void {
    const root = document.documentElement;
    if (this.theme === "system") delete root.dataset.theme;
    else root.dataset.theme = this.theme;
  }
}

function remembered(): Theme {
  const theme = localStorage.getItem("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

function device(): string {
  const known = localStorage.getItem("device");
  if (known) return known;
  const fresh = `web-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  localStorage.setItem("device", fresh);
  return fresh;
}

export const screen = new Screen();
