// hypercube: ranks whose binary digits differ in one place are neighbours.
//
// Thread-safety: pure function.
#include <bit>
#include <memory>
#include <utility>

#include "base/status.h"
#include "topology/graphs/cayley_graph.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

bool IsPowerOfTwo(int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); }

// "hypercube"; n a power of two.
absl::StatusOr<std::shared_ptr<const Topology>> MakeHypercube(const Spec& spec, Rank n, uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  if (!IsPowerOfTwo(n)) return SizeError(spec.text, n, "n must be a power of two", IsPowerOfTwo);
  const size_t dimensions = std::bit_width(static_cast<uint32_t>(n)) - 1;
  CayleyGraph::Offsets offsets(dimensions, CayleyGraph::Element(dimensions, 0));
  for (size_t a = 0; a < dimensions; ++a) offsets[a][a] = 1;
  return std::make_shared<CayleyGraph>("hypercube", std::vector<Rank>(dimensions, 2),
                                       std::vector<CayleyGraph::Offsets>{std::move(offsets)});
}

const Registration kHypercube(Topologies(),
                              {.name = "hypercube",
                               .help = "neighbours differ in one binary digit; n is a power of two",
                               .examples = {"hypercube"},
                               .make = MakeHypercube});

}  // namespace
}  // namespace grapevine
