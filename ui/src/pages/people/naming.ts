// How people and senders are called, and how their ids are read.

import type { PersonShape } from "../../api/schema.ts";
import { words } from "../../words/index.ts";

/** Read the platform out of an id: `telegram:42` is on `telegram`. */
export function platformOf(sender: string): string {
  return sender.slice(0, Math.max(0, sender.indexOf(":")));
}

/** Call somebody by their name, or by their id where they have none. */
export function called({ sender, name }: { sender: string; name: string | null }): string {
  return name?.trim() || sender;
}

/** Call a person by their name, else as one of their senders is called. */
export function callPerson({ name, senders }: Pick<PersonShape, "name" | "senders">): string {
  const sender = senders.find((one) => one.name) ?? senders[0];
  return name?.trim() || (sender ? called(sender) : words.people.persons.unnamed);
}

/** Write the numbers of a certificate as one line, the largest first. */
export function counted(counts: Readonly<Record<string, number>>): string {
  const told = Object.entries(counts).filter(([, many]) => many > 0);
  return told
    .sort(([, one], [, other]) => other - one)
    .map(([what, many]) => `${what.replaceAll("_", " ")} ${many.toLocaleString()}`)
    .join(" · ");
}
