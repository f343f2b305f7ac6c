// How wide the sidebar is; each browser remembers its own.

export const NARROWEST = 220;
export const WIDEST = 520;
const USUAL = 300;

class Width {
  px = $state(remembered());

  set(px: number): void {
    this.px = Math.round(Math.min(WIDEST, Math.max(NARROWEST, px)));
    localStorage.setItem("sidebar", String(this.px));
  }

  reset(): void {
    this.set(USUAL);
  }
}

function remembered(): number {
  const px = Number(localStorage.getItem("sidebar"));
  return px >= NARROWEST && px <= WIDEST ? px : USUAL;
}

export const width = new Width();
