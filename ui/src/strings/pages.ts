export const pages = {
  back: "Back to the conversations",
  showMore: "Show more",
  stale: "Somebody else changed this in the meantime.",
  staleOther: "Your version is still here. Save again to replace theirs:",
  staleSame: "The fields here were not changed. Save again.",
};
