// What the menu of a conversation offers, by what is the case.

import type { SessionView } from "../../api/schema.ts";
import type { Choice } from "../../design/choice.ts";
import { words } from "../../words/index.ts";

/** What can be chosen, and which dialog asks for more. */
export interface Wishes {
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

export interface Facts {
  session: SessionView;
  isReadOnly: boolean;
  isHiddenShown: boolean;
  hasHidden: boolean;
  /** Whoever looks at it is the owner, and the people are elsewhere. */
  canTakeOver: boolean;
}

const said = words.details.menuItems;

/** Make the lines of the menu. */
export function choicesOf(facts: Facts, wish: Wishes): (Choice | null)[] {
  const { session, isReadOnly, isHiddenShown, hasHidden, canTakeOver } = facts;
  const isTaken = session.taken_at !== null;
  const isPinned = session.pinned_at !== null;
  const isArchived = session.archived_at !== null;
  return [
    { label: said.rename, icon: "edit", run: wish.rename },
    { label: isPinned ? said.unpin : said.pin, icon: "pin", run: () => wish.pin(!isPinned) },
    { label: said.move, icon: "folder", run: () => wish.ask("move") },
    {
      label: isArchived ? said.unarchive : said.archive,
      icon: "archive",
      run: () => wish.archive(!isArchived),
    },
    { label: said.unread, icon: "unread", run: wish.markUnread },
    null,
    ...(canTakeOver && !isReadOnly && !session.ended_at
      ? [{ label: isTaken ? said.handBack : said.takeOver, icon: "hand", run: () => wish.takeOver(!isTaken) } as const]
      : []),
    ...(isReadOnly ? [] : changes(isHiddenShown, hasHidden, wish)),
    { label: said.export, icon: "download", run: () => wish.ask("export") },
    { label: said.share, icon: "share", run: () => wish.ask("share") },
    null,
    ...(session.ended_at || isReadOnly ? [] : [{ label: said.end, icon: "flag", run: wish.end } as const]),
    { label: said.forget, icon: "trash", isDanger: true, run: () => wish.ask("forget") },
  ];
}

function changes(isHiddenShown: boolean, hasHidden: boolean, wish: Wishes): (Choice | null)[] {
  const toggle: Choice = {
    label: isHiddenShown ? said.hideHidden : said.showHidden,
    icon: "restore",
    run: () => wish.showHidden(!isHiddenShown),
  };
  return [
    { label: said.undo, icon: "undo", run: wish.undo },
    ...(hasHidden ? [{ label: said.redo, icon: "redo", run: wish.redo } as const, toggle] : []),
    { label: said.compress, icon: "expand", run: () => wish.ask("compress") },
    null,
  ];
}
