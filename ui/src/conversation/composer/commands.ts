// Commands: what is written with a slash, and what it could become.

/** One thing that can be asked for with a slash. */
export interface Command {
  name: string;
  /** How its arguments are written: `[n]`, `<words>`, or nothing. */
  arguments: string;
  help: string;
}

const WRITTEN = /^\/([a-z0-9_]+)(?:\s|$)/i;
const BEGUN = /^\/([a-z0-9_]*)$/i;

/** Tell whether a text is written as commands are, whether or not there is such a one. */
export function isCommandText(text: string): boolean {
  return WRITTEN.test(text.trim());
}

/** Read a command; null if the text is none, or names one that there is not. */
export function parseCommand(text: string, known: readonly Command[]): Command | null {
  const name = WRITTEN.exec(text.trim())?.[1]?.toLowerCase();
  return known.find((one) => one.name === name) ?? null;
}

/** List what a name that is being written could become; the names that begin with it come first. */
export function completeCommand(text: string, caret: number, known: readonly Command[]): readonly Command[] {
  const begun = caret === text.length ? BEGUN.exec(text)?.[1]?.toLowerCase() : undefined;
  if (begun === undefined) return [];
  const first = known.filter((one) => one.name.startsWith(begun));
  const rest = known.filter((one) => begun && !one.name.startsWith(begun) && one.name.includes(begun));
  return [...first, ...rest];
}

/** Whether a command says nothing without words of its own. */
export function needsArguments({ arguments: formatCommand }: Command): boolean {
  return formatCommand.startsWith("<");
}

/** Write a command into the field, ready for its words. */
export function formatCommand(command: Command): string {
  return `/${command.name}${command.arguments ? " " : ""}`;
}

/** Go to the next or the previous of several, and around at the ends. */
export function wrapIndex(at: number, by: 1 | -1, length: number): number {
  return length === 0 ? 0 : (at + by + length) % length;
}
