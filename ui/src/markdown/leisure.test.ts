import { expect, test, vi } from "vitest";
import { hasTime, later, leisure } from "./leisure.ts";

test("What waits is done in order, and what was taken back is not done.", async () => {
  const done: string[] = [];
  later(() => done.push("first"));
  later(() => done.push("taken back"))();
  later(() => done.push("second"));
  expect(done).toEqual([]);
  await leisure();
  expect(done).toEqual(["first", "second"]);
});

test("Whoever took too long lets others have their turn, and nothing is forgotten.", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  const done: string[] = [];
  later(() => {
    now.mockReturnValue(1000);
    done.push("slow");
  });
  later(() => done.push("next"));
  await new Promise((resolve) => setTimeout(resolve));
  expect(done).toEqual(["slow"]);
  await leisure();
  expect(done).toEqual(["slow", "next"]);
  now.mockRestore();
});

test("Time is shared by all that work in one go, and new in the next.", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  expect(hasTime()).toBe(true);
  now.mockReturnValue(1000);
  expect(hasTime()).toBe(false);
  await new Promise((resolve) => setTimeout(resolve));
  expect(hasTime()).toBe(true);
  now.mockRestore();
  await leisure();
});
