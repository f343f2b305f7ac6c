export const apiDocs = {
  login: (name: string): string =>
    `You are logged in as ${name}. Requests are sent with your login, or with a token entered under “Authorize”, and change real data.`,
  nobody: "You are not logged in. Enter a token under “Authorize”, or log in:",
  logIn: "Log in",
  away: "The server could not be reached. Reload the page to try again.",
};
