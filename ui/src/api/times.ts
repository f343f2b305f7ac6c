// Times as the API writes them: RFC 3339 in UTC, with a fraction of a second if there is one.

/** Order two times. As text they compare to the microsecond, and faster than as dates. */
export function compareTimes(one: string, other: string): number {
  // Without its Z, a whole second is the beginning of the same second with a fraction.
  const [first, second] = [one.slice(0, -1), other.slice(0, -1)];
  return first < second ? -1 : Number(first > second);
}
