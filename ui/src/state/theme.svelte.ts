// The colour theme of this browser.

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

class ThemeSetting {
  current = $state<Theme>(readStored());

  constructor() {
    this.#apply();
  }

  set(theme: Theme): void {
    this.current = theme;
    localStorage.setItem("theme", theme);
    this.#apply();
  }

  #apply(): void {
    const root = document.documentElement;
    if (this.current === "system") delete root.dataset.theme;
    else root.dataset.theme = this.current;
  }
}

function readStored(): Theme {
  const theme = localStorage.getItem("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

export const theme = new ThemeSetting();
