// The screen: its size, its clock, and the id of this browser.

const NARROW = "(max-width: 720px)";
const WIDE = "(min-width: 1200px)";

class Screen {
  isNarrow = $state(matchMedia(NARROW).matches);
  isWide = $state(matchMedia(WIDE).matches);
  /** The clock of the screen: relative times are told anew every half minute. */
  now = $state(Date.now());
  /** The name of this browser, for drafts: each device has its own. */
  readonly device = getDeviceId();

  constructor() {
    matchMedia(NARROW).addEventListener("change", (event) => (this.isNarrow = event.matches));
    matchMedia(WIDE).addEventListener("change", (event) => (this.isWide = event.matches));
    setInterval(() => (this.now = Date.now()), 30_000);
  }
}

function getDeviceId(): string {
  const known = localStorage.getItem("device");
  if (known) return known;
  const fresh = `web-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  localStorage.setItem("device", fresh);
  return fresh;
}

export const screen = new Screen();
