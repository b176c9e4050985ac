#include "node/control/wording.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/units.h"

namespace grapevine {

std::string FlagWithTime(const char* flag, std::chrono::milliseconds value) {
  return absl::StrFormat("%s=%gs", flag, Seconds(value));
}

std::string Named(const std::vector<Rank>& ranks) {
  constexpr size_t kMaxNamed = 8;
  const size_t shown = std::min(ranks.size(), kMaxNamed);
  std::string text = absl::StrCat(
      ranks.size() == 1 ? "rank " : "ranks ",
      absl::StrJoin(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (ranks.size() > shown) absl::StrAppend(&text, " and ", ranks.size() - shown, " more");
  return text;
}

}  // namespace grapevine
