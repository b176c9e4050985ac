#include "node/control/tenure.h"

namespace grapevine {

bool Tenure::Set(bool certain, SteadyTime now) {
  const bool back = certain && uncertain_since_;
  if (certain) {
    uncertain_since_.reset();
  } else if (!uncertain_since_) {
    uncertain_since_ = now;
  }
  return back;
}

std::chrono::nanoseconds Tenure::Uncertain(SteadyTime now) const {
  return uncertain_since_ ? now - *uncertain_since_ : std::chrono::nanoseconds(0);
}

}  // namespace grapevine
