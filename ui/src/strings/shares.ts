export const shares = {
  title: "Shares",
  intro:
    "Pages of conversations as they were when they were shared. Anyone with the link can read them. Attachments are left out; people, numbers and keys are replaced by placeholders.",
  list: "Shared pages",
  none: { title: "Nothing is shared", text: "Share a conversation from its menu, and its page appears here." },
  made: "shared",
  revoked: "revoked",
  session: "The conversation",
  copy: "Copy link",
  copied: "Link copied.",
  revoke: "Revoke",
  revokeTitle: "Revoke this page?",
  revokeHelp: "The page and its link stop working. The conversation is not changed.",
  revokeDone: "The page was revoked.",
};
