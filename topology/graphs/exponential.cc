#include "topology/graphs/exponential.h"

#include "base/status_macros.h"
#include "topology/graphs/cayley_graph.h"

namespace grapevine {
namespace {

// 1, 2, 4, ... below n: ceil(log2 n) of them.
CayleyGraph::Offsets PowersOfTwo(Rank n) {
  CayleyGraph::Offsets offsets;
  for (int64_t power = 1; power < n; power *= 2) offsets.push_back({static_cast<Rank>(power)});
  return offsets;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Topology>> MakeExponential(const Spec& spec, Rank n,
                                                                uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return std::make_shared<CayleyGraph>("exponential", std::vector<Rank>{n},
                                       std::vector<CayleyGraph::Offsets>{PowersOfTwo(n)});
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeOnePeerExponential(const Spec& spec, Rank n,
                                                                       uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  std::vector<CayleyGraph::Offsets> rounds;
  for (const CayleyGraph::Element& offset : PowersOfTwo(n)) rounds.push_back({offset});
  if (rounds.empty()) rounds.emplace_back();  // a single node has no peer
  return std::make_shared<CayleyGraph>("one-peer-exponential", std::vector<Rank>{n},
                                       std::move(rounds));
}

}  // namespace grapevine
