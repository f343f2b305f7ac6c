// A fresh proof of who uses this browser, which the server wants before it creates another way to log in.

import { Problem } from "../../api/client.ts";

class Reauthentication {
  /** What to do once the user has proven who they are, or does not want to; null: nothing is asked. */
  pending = $state.raw<{ prove: () => void; cancel: () => void } | null>(null);

  /** Run a request; if it needs a fresh proof, ask for one and run it again. */
  async run<Result>(request: () => Promise<Result>): Promise<Result> {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Problem) || error.title !== "ProofNeeded") throw error;
      await new Promise<void>((prove, cancel) => {
        this.pending = { prove, cancel: () => cancel(error) };
      }).finally(() => (this.pending = null));
      return await request();
    }
  }
}

export const reauthentication = new Reauthentication();
