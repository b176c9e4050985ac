// --mixing=file:PATH (topology/weights/matrix_file.cc), for a ring of three.
#include <glog/logging.h>

#include <cmath>
#include <vector>

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
  std::vector<double> columns(kNodes);
  for (Rank rank = 0; rank < kNodes; ++rank) {
    MixingRow row;
    (*mixing)->Row(rank, 0, &row);
    double sum = row.self;
    columns[rank] += row.self;
    for (const auto& [from, weight] : row.in) {
      CHECK(weight >= 0 && weight <= 1);
      sum += weight;
      columns[from] += weight;
    }
    if ((*mixing)->stochastic() == Stochastic::kDoubly) CHECK_LT(std::abs(sum - 1), 1e-6);
  }
  for (const double sum : columns) CHECK_LT(std::abs(sum - 1), 1e-6);
}

}  // namespace
}  // namespace grapevine
