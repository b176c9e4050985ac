#include "node/life/role/lapsed_role.h"

#include <glog/logging.h>

namespace grapevine {

void LapsedRole::OnLooked(bool own) {
  CHECK(step_ == Step::kLook);
  step_ = own ? Step::kTake : Step::kYield;
}

void LapsedRole::OnTaken(bool taken) {
  CHECK(step_ == Step::kTake);
  step_ = taken ? Step::kClaim : Step::kLook;
}

void LapsedRole::OnClaimed() {
  CHECK(step_ == Step::kClaim);
  step_ = Step::kRegained;
}

void LapsedRole::OnTrouble() {
  CHECK(step_ != Step::kRegained && step_ != Step::kYield);
  step_ = Step::kLook;
}

}  // namespace grapevine
