/** Why a device did not make or use a passkey, by what the browser calls it. */
const obstacles: Readonly<Record<string, string>> = {
  InvalidStateError: "This device already has a passkey for you.",
  NotSupportedError: "This device cannot create the required kind of passkey.",
  SecurityError: "Passkeys only work at the server's configured address. Open the app there.",
  other: "This device could not use a passkey.",
};

export const login = {
  title: "Log in",
  name: "Name",
  password: "Password",
  submit: "Log in",
  passkey: "Use a passkey",
  how: "Or open a one-time login link. To print one, run this on the Threadline machine:",
  command: "threadline account link",
  again: (seconds: number): string => `Too many wrong attempts. Try again in ${Math.ceil(seconds / 60)} min.`,
  cancelled: "The passkey was not used.",
  obstacles,
};
