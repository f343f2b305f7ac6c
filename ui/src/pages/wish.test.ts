import { expect, it } from "vitest";
import { Wish } from "./wish.ts";

it("goes out under the same key until something else is wished for", () => {
  const wish = new Wish();
  const first = wish.header({ name: "Garden" });
  expect(wish.header({ name: "Garden" })).toEqual(first);
  const other = wish.header({ name: "House" });
  expect(other).not.toEqual(first);
  expect(wish.header({ name: "House" })).toEqual(other);
});
