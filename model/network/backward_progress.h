// How far a gradient has come while the backward pass of a network goes on.
//
// A parameter's gradient is final when its layer's backward has run, and buffers
// are written on the way forward. Parameters lie in the replica in the order of
// the layers, about, so that a gradient becomes final from its end on.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_MODEL_NETWORK_BACKWARD_PROGRESS_H_
#define GRAPEVINE_MODEL_NETWORK_BACKWARD_PROGRESS_H_

#include <cstdint>
#include <vector>

#include "model/network/network_graph.h"

namespace grapevine {

class BackwardProgress {
 public:
  explicit BackwardProgress(const NetworkGraph& graph);

  // The elements from there on are final once operation `i` and all later ones
  // have gone back.
  int64_t FinalFrom(int i) const { return final_from_[i]; }

  // The part of a gradient's time after which the elements from `from` on are
  // final: an estimate from counted operations (multiplications in matrix
  // products, elements elsewhere), where a backward pass costs twice the forward
  // one, so that it is the same on every machine.
  double ReadyAt(int64_t from) const;

 private:
  std::vector<int64_t> final_from_;  // of each operation; never falls
  std::vector<double> ready_at_;     // of each operation
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_BACKWARD_PROGRESS_H_
