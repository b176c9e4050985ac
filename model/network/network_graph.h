// A network as data: which operations follow each other, and what its replica
// looks like. NetworkBuilder makes one, GraphNetwork runs it.
//
// Tensor 0 is the batch of images; operation i writes tensor i + 1 and reads
// earlier ones. Values; thread-safe.
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

// Joins operations that one pass over memory can compute: a ReLU with what comes before it, an
// addition with the batch normalization of one of its summands. The same function with fewer
// operations; the replica's layout does not change.
NetworkGraph Fuse(NetworkGraph graph);

// Which part of a gradient is final during a network's backward pass. A parameter's gradient is
// final when its layer's backward has run; buffers are written in the forward pass. Parameters
// are in the replica roughly in the order of the layers, so that a gradient becomes final from
// its end on. Immutable.
class BackwardProgress {
 public:
  explicit BackwardProgress(const NetworkGraph& graph);

  // The elements from there on are final once the backward of operation `i` and of all later
  // ones has run.
  int64_t FinalFrom(int i) const { return final_from_[i]; }

  // The share of a gradient's time after which the elements from `from` on are final: an
  // estimate from counted operations (multiplications in matrix products, elements elsewhere),
  // where a backward pass costs twice the forward one, so that it is the same on every machine.
  double ReadyAt(int64_t from) const;

 private:
  std::vector<int64_t> final_from_;  // of each operation; never falls
  std::vector<double> ready_at_;     // of each operation
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_NETWORK_GRAPH_H_
