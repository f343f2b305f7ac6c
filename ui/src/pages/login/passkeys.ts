// Passkeys: what the server asks is signed by a device, and never leaves the browser otherwise.

import type { Client } from "../../api/client.ts";
import { strings } from "../../strings/index.ts";

/** Tell whether an address is in numbers; passkeys want a name. */
export function isIpAddress(host: string): boolean {
  return /^[\d.]+$/.test(host) || host.includes(":");
}

/** Tell whether this browser can use passkeys here. */
export function canUsePasskeys(): boolean {
  const isNamed = !isIpAddress(location.hostname);
  return isNamed && "PublicKeyCredential" in globalThis && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Tell whether somebody put the device away again, or let it wait for too long. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && ["NotAllowedError", "AbortError"].includes(error.name);
}

/** Say why a device did not do it; null: it was not the device. */
export function getPasskeyError(error: unknown): string | null {
  if (!(error instanceof DOMException)) return null;
  const { obstacles } = strings.login;
  return obstacles[error.name] ?? obstacles.other ?? null;
}

/** Log in with a passkey. */
export async function signIn(client: Client): Promise<void> {
  const { challenge, options } = (await client.call("ask_passkey")).data;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = toJson(await navigator.credentials.get({ publicKey }));
  await client.call("log_in_by_passkey", { body: { challenge, credential } });
}

/** Prove with a passkey who uses this browser. */
export async function provePasskey(client: Client): Promise<void> {
  const { challenge, options } = (await client.call("ask_proof")).data;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = toJson(await navigator.credentials.get({ publicKey }));
  await client.call("prove_by_passkey", { body: { challenge, credential } });
}

/** Make a passkey with which one can log in from now on. */
export async function createPasskey(client: Client, name: string): Promise<void> {
  const { challenge, options } = (await client.call("ask_new_passkey")).data;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = toJson(await navigator.credentials.create({ publicKey }));
  await client.call("add_passkey", { body: { challenge, credential, name } });
}

function toJson(signed: Credential | null) {
  if (!(signed instanceof PublicKeyCredential)) throw new DOMException("There is no passkey", "AbortError");
  return { ...signed.toJSON() };
}
