// Passkeys: what the server asks is signed by a device, and never leaves the browser otherwise.

import type { Client } from "../../api/client.ts";

/** Tell whether this browser can use passkeys here: they want a name, not an address in numbers. */
export function canUsePasskeys(): boolean {
  const isName = !/^[\d.:[\]]+$/.test(location.hostname);
  return isName && "PublicKeyCredential" in globalThis && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Log in with a passkey. */
export async function signIn(client: Client): Promise<void> {
  const { challenge, options } = (await client.call("ask_passkey")).data;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const signed = await navigator.credentials.get({ publicKey });
  if (!(signed instanceof PublicKeyCredential)) return;
  const credential = { ...signed.toJSON() };
  await client.call("log_in_by_passkey", { body: { challenge, credential } });
}

/** Make a passkey with which one can log in from now on. */
export async function makePasskey(client: Client, name: string): Promise<void> {
  const { challenge, options } = (await client.call("ask_new_passkey")).data;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const made = await navigator.credentials.create({ publicKey });
  if (!(made instanceof PublicKeyCredential)) return;
  const credential = { ...made.toJSON() };
  await client.call("add_passkey", { body: { challenge, credential, name } });
}
