// What can wait is done in small portions, so that a click or a key never waits for it.

/** So long may one portion take, in ms. */
const SPAN_MS = 5;
const waiting = new Set<() => void>();
let until: number | null = null;

/** Tell whether whoever works right now may go on; all that work in one go share their time. */
export function hasTime(): boolean {
  if (until === null) {
    until = performance.now() + SPAN_MS;
    setTimeout(() => (until = null));
  }
  return performance.now() < until;
}

/** Do something soon, after what is waiting already; answers how not to. */
export function later(run: () => void): () => void {
  if (waiting.size === 0) setTimeout(work);
  waiting.add(run);
  return () => waiting.delete(run);
}

/** Wait until there is time. */
export function leisure(): Promise<void> {
  return new Promise((resolve) => later(resolve));
}

function work(): void {
  until = performance.now() + SPAN_MS;
  for (const run of [...waiting]) {
    waiting.delete(run);
    run();
    if (performance.now() >= until) break;
  }
  until = null;
  if (waiting.size > 0) setTimeout(work);
}
