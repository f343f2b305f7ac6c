export const pages = {
  back: "Back to the conversations",
  showMore: "Show more",
  stale: "It was changed elsewhere meanwhile.",
  staleOther: "What you wrote still stands here. Save once more to put it in the place of what is there now:",
  staleSame: "Nothing that stands here was touched. Save once more.",
};
