// Descriptions of places and platform capabilities.

import type { CapabilitiesView, AddressView } from "../../api/schema.ts";
import { formatBytes } from "../../design/formatting.ts";
import { getPlatformName } from "../../design/platforms.ts";
import { strings } from "../../strings/index.ts";

const labels = strings.platforms;

/** Say what a platform can do, and what a person might miss there. */
export function listCapabilities(can: CapabilitiesView): readonly string[] {
  const { can: names } = labels;
  return [
    names.limit(can.text_limit, can.unit),
    can.attachments ? names.files(formatBytes(can.attachment_limit)) : names.not("files"),
    can.edits ? names.edits : names.not(names.edits),
    ...(can.typing ? [names.typing] : []),
    ...(can.threads ? [names.threads] : []),
    ...(can.buttons ? [names.buttons] : []),
    ...(can.receives ? [] : [names.deaf]),
    ...(can.speaks ? [] : [names.replies]),
  ];
}

/** Call a place by its name, else by its id. */
export function getPlaceName(place: AddressView): string {
  const chat = place.name ?? place.chat;
  const thread = place.topic ?? place.thread;
  return [chat, ...(thread ? [thread] : [])].join(" › ");
}

/** Tell where a place is: its platform, and what sort of place it is. */
export function describePlace(place: AddressView): string {
  return `${getPlatformName(place.platform)}, ${labels.kinds[place.kind]}`;
}
