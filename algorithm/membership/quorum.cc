#include "algorithm/membership/quorum.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string TooFewMembers(Member left, Rank nodes, std::optional<Member> min_nodes, Member lately,
                          std::string_view memory) {
  const std::string are = absl::StrCat(left, " of ", nodes, left == 1 ? " nodes is" : " nodes are",
                                       " left, fewer than ");
  if (min_nodes) return absl::StrCat(are, "--min-nodes=", *min_nodes);
  return absl::StrCat(are, "half of the ", lately, " that were in the run within ",
                      std::string(memory), "; with --min-nodes=", left, " so few would go on");
}

}  // namespace grapevine
