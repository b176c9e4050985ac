// --mixing=file:PATH (topology/weights/matrix_file.cc), for a ring of three.
#include <glog/logging.h>

#include <cmath>

#include "tests/fuzz/fuzz_target.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

FUZZ_TARGET(matrix) {
  constexpr Rank kNodes = 3;
  const fuzz::InputFile file(data, size);
  const auto mixing = MakeMixing("file:" + file.path(), *MakeTopology("ring", kNodes, 1));
  if (!mixing.ok()) {
    fuzz::RequireClass(mixing.status(), Failure::kInput);
    return;
  }
  for (Rank rank = 0; rank < kNodes; ++rank) {
    MixingRow row;
    (*mixing)->Row(rank, 0, &row);
    double sum = row.self;
    for (const Neighbour& neighbour : row.in) {
      CHECK(neighbour.weight >= 0 && neighbour.weight <= 1);
      sum += neighbour.weight;
    }
    CHECK_LT(std::abs(sum - 1), 1e-6);
  }
}

}  // namespace
}  // namespace grapevine
