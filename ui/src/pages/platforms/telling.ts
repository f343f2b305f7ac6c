// Places and capabilities, as people call them.

import type { CapabilitiesShape, PlaceShape } from "../../api/schema.ts";
import { bytes } from "../../design/moments.ts";
import { nameOf } from "../../design/platforms.ts";
import { words } from "../../words/index.ts";

const said = words.platforms;

/** Say what a platform can do, and what a person might miss there. */
export function abilities(can: CapabilitiesShape): readonly string[] {
  const { can: names } = said;
  return [
    names.limit(can.text_limit, can.unit),
    can.attachments ? names.files(bytes(can.attachment_limit)) : names.not("files"),
    can.edits ? names.edits : names.not(names.edits),
    ...(can.typing ? [names.typing] : []),
    ...(can.threads ? [names.threads] : []),
    ...(can.buttons ? [names.buttons] : []),
    ...(can.receives ? [] : [names.deaf]),
    ...(can.speaks ? [] : [names.replies]),
  ];
}

/** Call a place by its name, else by its id. */
export function callPlace(place: PlaceShape): string {
  const chat = place.name ?? place.chat;
  const thread = place.topic ?? place.thread;
  return [chat, ...(thread ? [thread] : [])].join(" › ");
}

/** Tell where a place is: its platform, and what sort of place it is. */
export function whereIs(place: PlaceShape): string {
  return `${nameOf(place.platform)}, ${said.kinds[place.kind]}`;
}
