// Graphs of unequal degree with weights other than the default, and W computed from the edges and
// the definition, independently of topology/weights/mixing.h.
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

  std::string name;  // valid in a test's name
  std::string topology;
  std::string mixing;
  // W of a round, under seed 1.
  std::function<Matrix(Round)> w;

  friend std::ostream& operator<<(std::ostream& out, const WeightedGraph& graph) {
    return out << graph.topology << " with " << graph.mixing;
  }
};

// Writes, below the test's folder, the files that some of them are read from.
std::vector<WeightedGraph> WeightedGraphs();

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_WEIGHTED_GRAPHS_H_
