// Layout of a virtual list whose rows stand in groups, with one row height in each group.

/** Rows that belong together, from one index up to another, below their name. */
export interface Group {
  name: string;
  top: number;
  height: number;
  /** How high each of its rows is. */
  row: number;
  from: number;
  to: number;
}

export interface Layout {
  groups: readonly Group[];
  height: number;
  /** How high the name of a group is. */
  label: number;
}

/** Where a row stood on the screen, to keep it there. */
export interface RowPosition {
  key: string;
  top: number;
}

/** Lay rows one below the other, group by group; the rows of a group follow each other. */
export function layOutRows<Row>(
  rows: readonly Row[],
  groupOf: (row: Row) => string,
  heightOf: (row: Row) => number,
  label: number,
): Layout {
  const groups: Group[] = [];
  let [top, from] = [0, 0];
  while (from < rows.length) {
    const first = rows[from] as Row;
    const [name, row] = [groupOf(first), heightOf(first)];
    const to = endOf(rows, from, (one) => groupOf(one) === name);
    const height = label + (to - from) * row;
    groups.push({ name, top, height, row, from, to });
    [top, from] = [top + height, to];
  }
  return { groups, height: top, label };
}

/** Choose what is drawn between two heights: the groups, each with a part of its rows. */
export function findVisible({ groups, label }: Layout, top: number, bottom: number): readonly Group[] {
  const drawn = groups.filter((group) => group.top < bottom && group.top + group.height > top);
  return drawn.map((group) => {
    const begin = group.top + label;
    const from = group.from + Math.max(0, Math.floor((top - begin) / group.row));
    const to = group.from + Math.max(0, Math.ceil((bottom - begin) / group.row));
    return { ...group, from: Math.min(from, group.to), to: Math.min(to, group.to) };
  });
}

/** Tell how far down a row stands. */
export function getRowTop({ groups, label }: Layout, index: number): number {
  const group = groups.find(({ from, to }) => index >= from && index < to);
  return group ? group.top + label + (index - group.from) * group.row : 0;
}

/**
 * Tell how far everything has moved, by the rows that were seen before.
 *
 * One of them may have gone to a place of its own, so the one that moved least tells the truth.
 */
export function getScrollShift(held: readonly RowPosition[], topNow: (key: string) => number | null): number {
  let least: number | null = null;
  for (const { key, top } of held) {
    const now = topNow(key);
    if (now !== null && (least === null || Math.abs(now - top) < Math.abs(least))) least = now - top;
  }
  return least ?? 0;
}

/** Find where a group ends: its rows follow each other, so that only few of them need be asked. */
function endOf<Row>(rows: readonly Row[], from: number, isInside: (row: Row) => boolean): number {
  let [low, high] = [from + 1, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isInside(rows[middle] as Row)) low = middle + 1;
    else high = middle;
  }
  return low;
}
