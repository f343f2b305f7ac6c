import { expect, test, vi } from "vitest";
import { hasTimeLeft, schedule, waitForTurn } from "./scheduler.ts";

test("What waits is done in order, and what was taken back is not done.", async () => {
  const done: string[] = [];
  schedule(() => done.push("first"));
  schedule(() => done.push("taken back"))();
  schedule(() => done.push("second"));
  expect(done).toEqual([]);
  await waitForTurn();
  expect(done).toEqual(["first", "second"]);
});

test("Whoever took too long lets others have their turn, and nothing is forgotten.", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  const done: string[] = [];
  schedule(() => {
    now.mockReturnValue(1000);
    done.push("slow");
  });
  schedule(() => done.push("next"));
  await new Promise((resolve) => setTimeout(resolve));
  expect(done).toEqual(["slow"]);
  await waitForTurn();
  expect(done).toEqual(["slow", "next"]);
  now.mockRestore();
});

test("Time is shared by all that work in one go, and new in the next.", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  expect(hasTimeLeft()).toBe(true);
  now.mockReturnValue(1000);
  expect(hasTimeLeft()).toBe(false);
  await new Promise((resolve) => setTimeout(resolve));
  expect(hasTimeLeft()).toBe(true);
  now.mockRestore();
  await waitForTurn();
});
