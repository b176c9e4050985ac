#include "node/life/role/lapsed_role.h"

#include <glog/logging.h>

namespace grapevine {

void LapsedRole::OnLooked(bool was_last) {
  CHECK(step_ == Step::kLook);
  step_ = !was_last ? Step::kYield : taken_ ? Step::kRegained : Step::kTake;
}

void LapsedRole::OnTaken(bool taken) {
  CHECK(step_ == Step::kTake);
  taken_ = taken;
  step_ = Step::kLook;
}

void LapsedRole::OnTrouble() {
  CHECK(step_ == Step::kLook || step_ == Step::kTake);
  taken_ = false;
  step_ = Step::kLook;
}

}  // namespace grapevine
