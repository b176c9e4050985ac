#include "algorithm/server/async_exchange.h"

namespace grapevine {

StalenessGate::StalenessGate(Rank workers, std::optional<int64_t> bound)
    : bound_(bound), workers_(workers), going_({{0, workers}}) {}

bool StalenessGate::Allows(Rank worker, Ask ask) const {
  if (!bound_) return ask == Ask::kPush;
  return workers_[worker].at_limit == (ask == Ask::kPull);
}

void StalenessGate::WaitForAll() {
  for (Worker& worker : workers_) worker.at_limit = true;
  going_.clear();
}

void StalenessGate::Leave(Rank worker) {
  StopGoing(worker);
  workers_[worker].at_limit = workers_[worker].left = true;
}

void StalenessGate::StopGoing(Rank worker) {
  const Worker& asking = workers_[worker];
  if (asking.at_limit) return;
  const auto group = going_.find(asking.steps);
  if (--group->second == 0) going_.erase(group);
}

void StalenessGate::On(Rank worker, Ask ask) {
  StopGoing(worker);
  Worker& asking = workers_[worker];
  if (ask != Ask::kPull) ++asking.steps;
  asking.at_limit = asking.left || ask == Ask::kLastPush;
  if (!asking.at_limit) ++going_[asking.steps];
}

bool StalenessGate::Passes(Rank worker) const {
  const Worker& asking = workers_[worker];
  return !bound_ || asking.at_limit || asking.steps - going_.begin()->first <= *bound_;
}

}  // namespace grapevine
