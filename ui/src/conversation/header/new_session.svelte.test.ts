import { expect, it, vi } from "vitest";
import { app } from "../../state/app.svelte.ts";

vi.stubGlobal("location", { pathname: "/", hash: "", search: "" });
vi.stubGlobal("document", new EventTarget());
vi.stubGlobal("addEventListener", () => undefined);

it("means a model for the profile in which it was chosen, and once", async () => {
  const { newSession } = await import("./new_session.svelte.ts");
  newSession.model = "openai:gpt-5";
  app.profile = "other";
  expect(newSession.model).toBeNull();
  app.profile = "main";
  expect(newSession.take()).toEqual({ model: { provider: "openai", model: "gpt-5" } });
  expect(newSession.take()).toEqual({});
});
