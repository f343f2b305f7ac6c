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
};
