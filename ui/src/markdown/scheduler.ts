// Schedules work in small slices, so that input never waits for it.

/** So long may one portion take, in ms. */
const SLICE_MS = 5;
const waiting = new Set<() => void>();
let until: number | null = null;

/** Tell whether whoever works right now may go on; all that work in one go share their time. */
export function hasTimeLeft(): boolean {
  if (until === null) {
    until = performance.now() + SLICE_MS;
    setTimeout(() => (until = null));
  }
  return performance.now() < until;
}

/** Do something soon, after what is waiting already; answers how not to. */
export function schedule(run: () => void): () => void {
  if (waiting.size === 0) setTimeout(runScheduled);
  waiting.add(run);
  return () => waiting.delete(run);
}

/** Wait until there is time. */
export function waitForTurn(): Promise<void> {
  return new Promise((resolve) => schedule(resolve));
}

function runScheduled(): void {
  until = performance.now() + SLICE_MS;
  for (const run of [...waiting]) {
    waiting.delete(run);
    run();
    if (performance.now() >= until) break;
  }
  until = null;
  if (waiting.size > 0) setTimeout(runScheduled);
}
