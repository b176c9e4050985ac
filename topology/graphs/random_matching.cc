// random-matching: another perfect matching in every round, drawn uniformly.
//
// Every node finds its partner on its own, from (seed, round), in constant time and memory for any
// number of nodes: the matching pairs neighbouring places of a pseudo-random permutation of the
// nodes.
//
// Thread-safety: immutable.
#include <memory>

#include "base/status.h"
#include "topology/graphs/keyed_permutation.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

class RandomMatching final : public Topology {
 public:
  RandomMatching(Rank n, uint64_t seed) : n_(n), seed_(seed) {}

  std::string name() const override { return "random-matching"; }
  Rank size() const override { return n_; }
  Round period() const override { return n_ <= 2 ? 1 : 0; }
  bool directed() const override { return false; }

  void InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    const KeyedPermutation order(n_, seed_, Purpose::kMatching, round);
    const uint32_t partner = order.Preimage(rank) ^ 1;
    neighbours->clear();
    if (partner < static_cast<uint32_t>(n_)) neighbours->push_back(order.Image(partner));
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    InNeighbours(rank, round, neighbours);
  }
  // The eigenvalue is 1 for the mean of every pair and for a node alone, and 0 for the difference
  // in every pair.
  std::optional<std::complex<double>> MetropolisEigenvalue(Rank k, Round) const override {
    return k < (n_ + 1) / 2 ? 1.0 : 0.0;
  }

 private:
  const Rank n_;
  const uint64_t seed_;
};

// "random-matching"; any n. Where n is odd, one node stays alone in each round. The graph never
// repeats, except where only one matching exists (n <= 2).
absl::StatusOr<std::shared_ptr<const Topology>> MakeRandomMatching(const Spec& spec, Rank n,
                                                                   uint64_t seed) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<RandomMatching>(n, seed);
}

const Registration kRandomMatching(Topologies(), {.name = "random-matching",
                                                  .help = "new random pairs in every round",
                                                  .examples = {"random-matching"},
                                                  .make = MakeRandomMatching});

}  // namespace
}  // namespace grapevine
