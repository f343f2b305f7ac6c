// Names of people and senders, and what their ids say.

import type { PersonView } from "../../api/schema.ts";
import { strings } from "../../strings/index.ts";

/** Read the platform out of an id: `telegram:42` is on `telegram`. */
export function parsePlatform(sender: string): string {
  return sender.slice(0, Math.max(0, sender.indexOf(":")));
}

/** Call somebody by their name, or by their id where they have none. */
export function getSenderName({ sender, name }: { sender: string; name: string | null }): string {
  return name?.trim() || sender;
}

/** Call a person by their name, else as one of their senders is called. */
export function getPersonName({ name, senders }: Pick<PersonView, "name" | "senders">): string {
  const sender = senders.find((one) => one.name) ?? senders[0];
  return name?.trim() || (sender ? getSenderName(sender) : strings.people.persons.unnamed);
}

/** Write the numbers of a certificate as one line, the largest first. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const told = Object.entries(counts).filter(([, many]) => many > 0);
  return told
    .sort(([, one], [, other]) => other - one)
    .map(([what, many]) => `${what.replaceAll("_", " ")} ${many.toLocaleString()}`)
    .join(" · ");
}
