// The graph and the weights of each view of a run (topology/weights/living_mixing.h), made once.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_MIXING_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_MIXING_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "algorithm/view.h"
#include "topology/weights/living_mixing.h"

namespace grapevine {

class ViewMixing {
 public:
  // The members of the first view are all nodes of request.whole.
  explicit ViewMixing(LivingMixingRequest request) : request_(std::move(request)) {}

  absl::StatusOr<LivingMixing> Of(const View& view);

 private:
  const LivingMixingRequest request_;
  View last_;  // the view that `mixing_` is for
  LivingMixing mixing_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_VIEW_MIXING_H_
