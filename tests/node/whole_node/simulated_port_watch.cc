#include "tests/node/whole_node/simulated_port_watch.h"

#include <chrono>
#include <utility>

namespace grapevine::testing {
namespace {

constexpr std::chrono::milliseconds kInterval{10};

}  // namespace

void SimulatedPortWatch::Watch(std::set<Rank> ranks) {
  watched_ = std::move(ranks);
  for (const Rank rank : watched_) Probe(rank);
}

void SimulatedPortWatch::Probe(Rank rank) {
  if (!asked_.insert(rank).second) return;
  network_->Probe(process_, (*processes_)[rank], [this, rank](bool refused) {
    process_->After(kInterval, [this, rank] {
      asked_.erase(rank);
      if (watched_.contains(rank)) Probe(rank);
    });
    if (refused && watched_.contains(rank)) on_closed_(rank);
  });
}

}  // namespace grapevine::testing
