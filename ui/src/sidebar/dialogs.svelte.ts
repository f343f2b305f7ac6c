// The open dialog of the session list.

type DialogKind = "rename" | "move" | "forget";

class ListDialog {
  kind = $state<DialogKind | null>(null);
  ids = $state.raw<readonly string[]>([]);

  open(kind: DialogKind, ids: readonly string[]): void {
    [this.kind, this.ids] = [kind, ids];
  }

  close = (): void => {
    this.kind = null;
  };
}

export const listDialog = new ListDialog();
