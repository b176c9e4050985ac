#include "optim/rate_scaling.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status_macros.h"

namespace grapevine {

absl::StatusOr<std::optional<RateScaling>> ScaleRate(std::string_view text, int64_t global_batch) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  SpecReader reader(spec);
  if (spec.name == "none") {
    RETURN_IF_ERROR(reader.Finish());
    return std::nullopt;
  }
  if (spec.name != "linear" && spec.name != "sqrt") {
    return SpecError(text, absl::StrCat("unknown scaling '", spec.name,
                                        "'; known: linear[:base=256], none, sqrt[:base=256]"));
  }
  RateScaling scaling{.base = reader.Real("base", 256, 1)};
  RETURN_IF_ERROR(reader.Finish());
  const double batches = static_cast<double>(global_batch) / scaling.base;
  scaling.factor = spec.name == "linear" ? batches : std::sqrt(batches);
  return scaling;
}

}  // namespace grapevine
