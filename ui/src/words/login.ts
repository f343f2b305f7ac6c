/** Why a device did not make or use a passkey, by what the browser calls it. */
const obstacles: Readonly<Record<string, string>> = {
  InvalidStateError: "This device has a passkey for you already.",
  NotSupportedError: "This device cannot make a passkey of the kind that is wanted.",
  SecurityError: "A passkey belongs to the address that the settings name as the server's. Open the app there.",
  other: "This device could not use a passkey.",
};

export const login = {
  title: "Log in",
  name: "Name",
  password: "Password",
  submit: "Log in",
  passkey: "Use a passkey",
  how: "Or open a link that logs in once. At the machine that runs Threadline:",
  command: "threadline account link",
  again: (seconds: number): string => `Wrong too often. Try again in ${Math.ceil(seconds / 60)} min.`,
  cancelled: "The passkey was not used.",
  obstacles,
};
