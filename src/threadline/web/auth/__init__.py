"""Auth: how somebody proves who they are, by a link, a password or a passkey."""
