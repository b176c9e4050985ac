// A network as data: which operations follow each other, and what its replica
// looks like. NetworkBuilder makes one, GraphNetwork runs it.
//
// Tensor 0 is the batch of images; operation i writes tensor i + 1 and reads
// earlier ones. A value; thread-safe.
#ifndef GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_
#define GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"
#include "kernels/vector/replica_layout.h"
#include "model/data/batch.h"

namespace grapevine {

struct GraphNode {
  Operation operation;
  std::vector<int> inputs;  // tensors
  TensorShape shape;        // of the output for one image (n = 1)
};

// The starting values of one tensor: mean + deviation * N(0, 1).
struct InitialValues {
  int64_t offset = 0;  // in the replica
  int64_t size = 0;
  double mean = 0;
  double deviation = 0;
};

struct NetworkGraph {
  std::string name;
  ImageShape input;
  std::vector<GraphNode> nodes;  // the last one writes the logits
  ReplicaLayout layout;
  std::vector<InitialValues> initial_values;

  int64_t classes() const { return nodes.back().shape.size(); }
  // The operations that read `tensor`, ascending; one that reads it twice counts twice.
  std::vector<int> Consumers(int tensor) const;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_
