// The menu of a conversation.

import type { SessionView } from "../../api/schema.ts";
import type { MenuItem } from "../../design/menu_item.ts";
import { strings } from "../../strings/index.ts";

/** What can be chosen, and which dialog asks for more. */
export interface MenuHandlers {
  rename: () => void;
  pin: (isPinned: boolean) => void;
  archive: (isArchived: boolean) => void;
  markUnread: () => void;
  showHidden: (isShown: boolean) => void;
  undo: () => void;
  redo: () => void;
  takeOver: (isTaken: boolean) => void;
  end: () => void;
  ask: (dialog: DialogName) => void;
}

export type DialogName = "move" | "compress" | "export" | "share" | "forget";

export interface MenuState {
  session: SessionView;
  isReadOnly: boolean;
  isHiddenShown: boolean;
  hasHidden: boolean;
  /** Whoever looks at it is the owner, and the people are elsewhere. */
  canTakeOver: boolean;
}

const labels = strings.details.menuItems;

/** Make the lines of the menu. */
export function listMenuItems(state: MenuState, handlers: MenuHandlers): (MenuItem | null)[] {
  const { session, isReadOnly, isHiddenShown, hasHidden, canTakeOver } = state;
  const isTaken = session.taken_at !== null;
  const isPinned = session.pinned_at !== null;
  const isArchived = session.archived_at !== null;
  return [
    { label: labels.rename, icon: "edit", run: handlers.rename },
    { label: isPinned ? labels.unpin : labels.pin, icon: "pin", run: () => handlers.pin(!isPinned) },
    { label: labels.move, icon: "folder", run: () => handlers.ask("move") },
    {
      label: isArchived ? labels.unarchive : labels.archive,
      icon: "archive",
      run: () => handlers.archive(!isArchived),
    },
    { label: labels.unread, icon: "unread", run: handlers.markUnread },
    null,
    ...(canTakeOver && !isReadOnly && !session.ended_at
      ? [{ label: isTaken ? labels.handBack : labels.takeOver, icon: "hand", run: () => handlers.takeOver(!isTaken) } as const]
      : []),
    ...(isReadOnly ? [] : listChangeItems(isHiddenShown, hasHidden, handlers)),
    { label: labels.export, icon: "download", run: () => handlers.ask("export") },
    { label: labels.share, icon: "share", run: () => handlers.ask("share") },
    null,
    ...(session.ended_at || isReadOnly ? [] : [{ label: labels.end, icon: "flag", run: handlers.end } as const]),
    { label: labels.forget, icon: "trash", isDanger: true, run: () => handlers.ask("forget") },
  ];
}

function listChangeItems(isHiddenShown: boolean, hasHidden: boolean, handlers: MenuHandlers): (MenuItem | null)[] {
  const toggle: MenuItem = {
    label: isHiddenShown ? labels.hideHidden : labels.showHidden,
    icon: "restore",
    run: () => handlers.showHidden(!isHiddenShown),
  };
  return [
    { label: labels.undo, icon: "undo", run: handlers.undo },
    ...(hasHidden ? [{ label: labels.redo, icon: "redo", run: handlers.redo } as const, toggle] : []),
    { label: labels.compress, icon: "expand", run: () => handlers.ask("compress") },
    null,
  ];
}
