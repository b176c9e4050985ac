#include "report/plot_kind.h"

#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {

Registry<PlotKind>& PlotKinds() {
  static Registry<PlotKind> kinds("kind of picture");
  return kinds;
}

absl::StatusOr<Vertical> LossOf(const PlotRequest& request, Vertical usual) {
  if (request.loss.empty()) return usual;
  if (request.loss == "train") return Vertical::kTrainLoss;
  if (request.loss == "test") return Vertical::kTestLoss;
  return UsageError(absl::StrCat("--loss=", request.loss, ": must be train or test"));
}

}  // namespace grapevine
