import { expect, test } from "vitest";
import { authorize, type Login } from "./login.ts";

const owner: Login = { kind: "account", name: "owner", csrf: "c1" };
const never = (): Promise<Login> => Promise.reject(new Error("the login was read"));

test("a write with the login gets the CSRF token of the login as it is now", async () => {
  const sent = await authorize({ url: "/api/jobs", method: "POST", headers: { accept: "*/*" } }, async () => owner);

  expect(sent.headers).toEqual({ accept: "*/*", "X-CSRF-Token": "c1" });
  expect(sent.credentials).toBe("same-origin");
});

test.each([
  { url: "/api/jobs", method: "GET", headers: {} },
  { url: "/api/openapi.json", loadSpec: true, headers: {} },
])("a read needs no CSRF token", async (request) => {
  const sent = await authorize(request, never);

  expect(sent.headers).toEqual({});
  expect(sent.credentials).toBe("same-origin");
});

test("a request with a token is sent without the login", async () => {
  const headers = { Authorization: "Bearer tl_1" };
  const sent = await authorize({ url: "/api/jobs", method: "POST", headers }, never);

  expect(sent.headers).toEqual(headers);
  expect(sent.credentials).toBe("omit");
});

test.each<Login>([{ kind: "nobody" }, { kind: "away" }])("a write without a login is sent as it is", async (login) => {
  const sent = await authorize({ url: "/api/jobs", method: "POST", headers: {} }, async () => login);

  expect(sent.headers).toEqual({});
});
