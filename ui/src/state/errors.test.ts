import { describe, expect, it } from "vitest";
import { Problem } from "../api/client.ts";
import { strings } from "../strings/index.ts";
import { getErrorHint, getErrorSummary, getErrorText } from "./errors.ts";

const away = new TypeError("Failed to fetch");

describe("what went wrong", () => {
  it("is told in the words of the server", () => {
    const problem = new Problem(409, "Conflict", "The name is taken", "7", "Choose another one.");
    expect([getErrorText(problem), getErrorHint(problem)]).toEqual(["The name is taken", "Choose another one."]);
    expect(getErrorSummary(problem)).toBe("The name is taken. Choose another one.");
  });

  it("promises to go on by itself only for what is read", () => {
    expect(getErrorHint(away)).toBe(strings.common.doAgain);
    expect(getErrorHint(away, true)).toBe(strings.common.readAgain);
  });

  it("is one line with one dot between its sentences", () => {
    expect(getErrorSummary(away)).toBe("The server could not be reached. Try again when you are back online.");
    expect(getErrorSummary(new Problem(500, "", "It broke."))).toBe("It broke.");
  });
});
