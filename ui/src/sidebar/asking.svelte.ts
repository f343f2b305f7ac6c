// Which dialog of the list is open, and for which conversations.

type Question = "rename" | "move" | "forget";

class Asking {
  question = $state<Question | null>(null);
  ids = $state.raw<readonly string[]>([]);

  ask(question: Question, ids: readonly string[]): void {
    [this.question, this.ids] = [question, ids];
  }

  close = (): void => {
    this.question = null;
  };
}

export const asking = new Asking();
