#include "algorithm/membership/view_mixing.h"

#include "base/status.h"

namespace grapevine {

absl::StatusOr<LivingMixing> ViewMixing::Of(const View& view) {
  if (mixing_.mixing && last_.members == view.members) return mixing_;
  ASSIGN_OR_RETURN(mixing_, MixingOfLiving(request_, view.members));
  last_ = view;
  return mixing_;
}

}  // namespace grapevine
