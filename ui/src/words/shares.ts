export const shares = {
  title: "Shares",
  intro:
    "Pages of conversations as they were when they were shared. Anybody can read them who knows their address. They have no attachments, and placeholders stand for people, numbers and keys.",
  list: "Pages that are shared",
  none: { title: "Nothing is shared", text: "Share a conversation from its menu, and its page stands here." },
  made: "shared",
  revoked: "revoked",
  session: "The conversation",
  copy: "Copy link",
  copied: "The link is copied.",
  revoke: "Revoke",
  revokeTitle: "Revoke this page?",
  revokeHelp: "Nobody can read it any more, also with its link. The conversation stays as it is.",
  revokeDone: "Nobody can read it any more.",
};
