#include "model/network/network_graph.h"

namespace grapevine {

std::vector<int> NetworkGraph::Consumers(int tensor) const {
  std::vector<int> consumers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (int input : nodes[i].inputs) {
      if (input == tensor) consumers.push_back(static_cast<int>(i));
    }
  }
  return consumers;
}

}  // namespace grapevine
