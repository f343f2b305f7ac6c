import { describe, expect, it } from "vitest";
import { Problem } from "../api/client.ts";
import { words } from "../words/index.ts";
import { hintOf, reasonOf, whatOf } from "./reasons.ts";

const away = new TypeError("Failed to fetch");

describe("what went wrong", () => {
  it("is told in the words of the server", () => {
    const problem = new Problem(409, "Conflict", "The name is taken", "7", "Choose another one.");
    expect([whatOf(problem), hintOf(problem)]).toEqual(["The name is taken", "Choose another one."]);
    expect(reasonOf(problem)).toBe("The name is taken. Choose another one.");
  });

  it("promises to go on by itself only for what is read", () => {
    expect(hintOf(away)).toBe(words.common.doAgain);
    expect(hintOf(away, true)).toBe(words.common.readAgain);
  });

  it("is one line with one dot between its sentences", () => {
    expect(reasonOf(away)).toBe("The server could not be reached. Try again when you are back online.");
    expect(reasonOf(new Problem(500, "", "It broke."))).toBe("It broke.");
  });
});
