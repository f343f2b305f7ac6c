import { expect, it, vi } from "vitest";
import { hub } from "../../state/hub.svelte.ts";

vi.stubGlobal("location", { pathname: "/", hash: "", search: "" });
vi.stubGlobal("document", new EventTarget());
vi.stubGlobal("addEventListener", () => undefined);

it("means a model for the profile in which it was chosen, and once", async () => {
  const { beginning } = await import("./beginning.svelte.ts");
  beginning.model = "openai:gpt-5";
  hub.profile = "other";
  expect(beginning.model).toBeNull();
  hub.profile = "main";
  expect(beginning.take()).toEqual({ model: { provider: "openai", model: "gpt-5" } });
  expect(beginning.take()).toEqual({});
});
