#include "node/identity/rank_names.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string RankNames::Of(Rank rank) const { return absl::StrCat("rank-", rank, ".", run_); }

}  // namespace grapevine
