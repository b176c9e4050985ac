// Graphs of unequal degree, and weights that are not the default, with W made from the
// edges and the definition: what topology/weights/mixing.h says is not asked.
//
// Thread-safety: values; what they refer to is immutable.
#ifndef GRAPEVINE_TESTS_TESTING_WEIGHTED_GRAPHS_H_
#define GRAPEVINE_TESTS_TESTING_WEIGHTED_GRAPHS_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "base/ids.h"

namespace grapevine::testing {

// By row, then column.
using Matrix = std::vector<std::vector<double>>;

struct WeightedGraph {
  static constexpr Rank kNodes = 8;

  std::string name;  // fit for a test's
  std::string topology;
  std::string mixing;
  // W of a round, under seed 1.
  std::function<Matrix(Round)> w;

  friend std::ostream& operator<<(std::ostream& out, const WeightedGraph& graph) {
    return out << graph.topology << " with " << graph.mixing;
  }
};

// Writes the files that some are read from below the test's folder.
std::vector<WeightedGraph> WeightedGraphs();

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_WEIGHTED_GRAPHS_H_
