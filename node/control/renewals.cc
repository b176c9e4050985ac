#include "node/control/renewals.h"

#include <utility>

namespace grapevine {

Renewals::Renewals(RenewalsOptions options, SteadyTime now)
    : options_(std::move(options)),
      now_(now),
      last_(now),
      passed_(options_.begin),
      named_(options_.begin),
      complete_(options_.begin) {}

void Renewals::OnPassed(Round passed) {
  const bool timely = options_.every && now_ - last_ >= *options_.every;
  while (passed_ < passed) {
    ++passed_;
    if (!due_ && !under_way() && options_.saved && options_.saved(passed_)) due_ = passed_;
  }
  const bool wanted = demanded_ || (timely && !under_way());
  if (!due_ && wanted && passed_ > named_) due_ = passed_;
}

void Renewals::Name() {
  named_ = *std::exchange(due_, std::nullopt);
  last_ = now_;
  demanded_ = false;
}

}  // namespace grapevine
