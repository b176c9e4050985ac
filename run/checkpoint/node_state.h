// What one node's algorithm keeps at a boundary, with its elements: from a driver that saves it
// (state_saver.h) to one that restores it (state_restorer.h).
//
// A value; copies share the vectors, which nobody writes.
#ifndef GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_
#define GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_

#include <map>
#include <string>

#include "base/ids.h"
#include "kernels/vector/shared_vector.h"

namespace grapevine {

struct NodeState {
  Round round = 0;  // completed
  // By the algorithm's names (algorithm/state_visitor.h).
  std::map<std::string, SharedVector> vectors;
  std::map<std::string, double> numbers;
  // Which of the vectors is the node's model; none for a parameter server.
  std::string model;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_NODE_STATE_H_
