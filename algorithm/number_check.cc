#include "algorithm/number_check.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {
namespace {

absl::Status Refused(Rank from, const Tag& tag, Round round, const std::string& what) {
  return WithFailure(
      absl::OutOfRangeError(absl::StrCat("refused what rank ", from, " sent for round ", round,
                                         " (", Describe(tag), "), ", what)),
      Failure::kDiverged);
}

}  // namespace

absl::Status CheckNumbers(Rank from, const Tag& tag, Round round, double squared_norm,
                          double max_norm) {
  if (!std::isfinite(squared_norm)) {
    return Refused(from, tag, round,
                   absl::StrCat("which has NaN or infinite elements: rank ", from,
                                " has diverged (a lower --lr or a warm-up may help), or computes "
                                "wrongly"));
  }
  const double norm = std::sqrt(squared_norm);
  if (norm <= max_norm) return absl::OkStatus();
  return Refused(from, tag, round,
                 absl::StrCat("whose norm ", norm, " is above --max-norm=", max_norm));
}

}  // namespace grapevine
