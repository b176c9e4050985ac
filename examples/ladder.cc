// A topology of your own: two paths side by side, joined by rungs.
//
//   --topology=ladder
//
// Rank r < n/2 stands beside rank r + n/2. docs/extending.md walks through it.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/spec.h"
#include "base/status.h"
#include "topology/topology.h"

namespace {

using grapevine::Rank;
using grapevine::Round;
using grapevine::Topology;

class Ladder final : public Topology {
 public:
  explicit Ladder(Rank n) : n_(n) {}

  std::string name() const override { return "ladder"; }
  Rank size() const override { return n_; }
  Round period() const override { return 1; }
  bool directed() const override { return false; }

  void InNeighbours(Rank rank, Round, std::vector<Rank>* neighbours) const override {
    const Rank rungs = n_ / 2, step = rank % rungs;
    neighbours->clear();
    if (step > 0) neighbours->push_back(rank - 1);
    if (step + 1 < rungs) neighbours->push_back(rank + 1);
    neighbours->push_back((rank + rungs) % n_);
    std::sort(neighbours->begin(), neighbours->end());
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    InNeighbours(rank, round, neighbours);
  }

 private:
  const Rank n_;
};

absl::StatusOr<std::shared_ptr<const Topology>> Make(const grapevine::Spec& spec, Rank n,
                                                     uint64_t) {
  RETURN_IF_ERROR(grapevine::SpecReader(spec).Finish());
  const auto works = [](int64_t size) { return size >= 2 && size % 2 == 0; };
  if (!works(n)) return grapevine::SizeError(spec.text, n, "a ladder has pairs of nodes", works);
  return std::make_shared<Ladder>(n);
}

const grapevine::Registration kLadder(grapevine::Topologies(),
                                      {.name = "ladder",
                                       .help = "two paths side by side, joined by rungs",
                                       .examples = {"ladder"},
                                       .make = Make,
                                       .advised = [](Rank) {
                                         return std::vector<std::string>{"ladder"};
                                       }});

}  // namespace
