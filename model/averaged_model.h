// The mean of all nodes' replicas: the model that decentralized training yields.
#ifndef GRAPEVINE_MODEL_AVERAGED_MODEL_H_
#define GRAPEVINE_MODEL_AVERAGED_MODEL_H_

#include <cstdint>

#include "kernels/aligned_buffer.h"

namespace grapevine {

struct AveragedModel {
  int64_t round = 0;   // completed rounds
  SharedVector model;  // parameters and buffers
  // (1/n) sum_i |x_i - mean|^2 over the parameters.
  double consensus_distance = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_AVERAGED_MODEL_H_
