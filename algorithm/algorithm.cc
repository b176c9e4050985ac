#include "algorithm/algorithm.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

absl::Status CheckForeseen(const Event& event) {
  if (const auto* offered = std::get_if<Offered>(&event)) {
    return absl::InternalError(absl::StrCat("rank ", offered->from, " offered ",
                                            Describe(offered->tag),
                                            ", but all messages of this algorithm are foreseen"));
  }
  if (const auto* lost = std::get_if<Lost>(&event)) {
    return absl::InternalError(absl::StrCat("the post for ", Describe(lost->tag), " of rank ",
                                            lost->from, " was lost, but not withdrawn"));
  }
  if (std::holds_alternative<Prepare>(event) || std::holds_alternative<ViewChanged>(event)) {
    return absl::InternalError("the members change, but this algorithm's are always the same");
  }
  return absl::OkStatus();
}

absl::Status Algorithm::VisitState(StateVisitor&, Host&) {
  return absl::UnimplementedError(
      "this algorithm does not say what it keeps from one round to the next "
      "(Algorithm::VisitState), and cannot be checkpointed");
}

}  // namespace grapevine
