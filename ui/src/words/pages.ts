export const pages = { back: "Back to the conversations", showMore: "Show more" };
