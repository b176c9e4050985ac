#include "optim/plateau.h"

#include <cmath>
#include <utility>

namespace grapevine {

bool PlateauWatch::Improves(double loss) const {
  if (!std::isfinite(loss)) return false;
  return !lowest_ || loss < *lowest_ - rule_.threshold * std::abs(*lowest_);
}

bool PlateauWatch::OnLoss(double loss) {
  const bool unaffected = std::exchange(takes_effect_next_, false);
  if (Improves(loss)) {
    lowest_ = loss;
    without_progress_ = 0;
    return false;
  }
  if (unaffected || grown_ == rule_.most) return false;
  if (++without_progress_ < rule_.patience) return false;
  without_progress_ = 0;
  ++grown_;
  takes_effect_next_ = true;
  return true;
}

}  // namespace grapevine
