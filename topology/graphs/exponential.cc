// Exponential graphs: node i sends to i + 1, i + 2, i + 4, ... (mod n), either to all of them in
// every round or to one after the other (arXiv:2110.13363).
//
// Thread-safety: pure functions.
#include <memory>

#include "base/status.h"
#include "topology/graphs/cayley_graph.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// Returns the ceil(log2 n) powers of two below n: 1, 2, 4, ...
CayleyGraph::Offsets PowersOfTwo(Rank n) {
  CayleyGraph::Offsets offsets;
  for (int64_t power = 1; power < n; power *= 2) offsets.push_back({static_cast<Rank>(power)});
  return offsets;
}

// "exponential"; any n. Degree ceil(log2 n), directed from n = 4 on.
absl::StatusOr<std::shared_ptr<const Topology>> MakeExponential(const Spec& spec, Rank n,
                                                                uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<CayleyGraph>("exponential", std::vector<Rank>{n},
                                       std::vector<CayleyGraph::Offsets>{PowersOfTwo(n)});
}

// "one-peer-exponential"; any n. Degree 1, period ceil(log2 n), directed from n = 3 on. A period
// averages exactly where n is a power of two.
absl::StatusOr<std::shared_ptr<const Topology>> MakeOnePeerExponential(const Spec& spec, Rank n,
                                                                       uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  std::vector<CayleyGraph::Offsets> rounds;
  for (const CayleyGraph::Element& offset : PowersOfTwo(n)) rounds.push_back({offset});
  if (rounds.empty()) rounds.emplace_back();  // a single node has no peer
  return std::make_shared<CayleyGraph>("one-peer-exponential", std::vector<Rank>{n},
                                       std::move(rounds));
}

const Registration kExponential(Topologies(), {.name = "exponential",
                                               .help = "node i sends to i + 1, i + 2, i + 4, ...",
                                               .examples = {"exponential"},
                                               .make = MakeExponential,
                                               .advised = [](Rank) {
                                                 return std::vector<std::string>{"exponential"};
                                               }});

const Registration kOnePeerExponential(Topologies(),
                                       {.name = "one-peer-exponential",
                                        .help = "the same edges, one per node in each round",
                                        .examples = {"one-peer-exponential"},
                                        .make = MakeOnePeerExponential,
                                        .advised = [](Rank) {
                                          return std::vector<std::string>{"one-peer-exponential"};
                                        }});

}  // namespace
}  // namespace grapevine
