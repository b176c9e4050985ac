#include "run/records/membership_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace grapevine {
namespace {

constexpr size_t kShown = 6;

std::string RanksText(const std::vector<int64_t>& ranks) {
  const size_t shown = std::min(kShown, ranks.size());
  std::string text = absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ",
                                  absl::StrJoin(ranks.begin(), ranks.begin() + shown, ", "));
  if (shown < ranks.size()) absl::StrAppend(&text, " and ", ranks.size() - shown, " more");
  return text;
}

// Returns "without rank 3 and with ranks 4, 5 from round 52 on".
std::string ChangeText(const MembershipChange& change) {
  std::vector<std::string> parts;
  if (!change.lost.empty()) parts.push_back(absl::StrCat("without ", RanksText(change.lost)));
  if (!change.joined.empty()) {
    parts.push_back(absl::StrCat("with ", RanksText(change.joined)));
  }
  return absl::StrCat(absl::StrJoin(parts, " and "), " from round ", change.round, " on");
}

}  // namespace

std::string MembershipText(const Summary& summary) {
  if (!summary.membership || !summary.living) return "";
  const size_t shown = std::min(kShown, summary.membership->size());
  std::vector<std::string> changes;
  for (const MembershipChange& change : std::span(*summary.membership).first(shown)) {
    changes.push_back(ChangeText(change));
  }
  if (shown < summary.membership->size()) {
    changes.push_back(absl::StrCat(summary.membership->size() - shown, " more changes"));
  }
  return absl::StrCat(*summary.living, " of ", summary.nodes,
                      " nodes at the end: ", absl::StrJoin(changes, "; "));
}

}  // namespace grapevine
