// A built-in data set: ten digits, each sample a randomly bent, rotated, shifted and jittered
// pen stroke under noise.
//
// Hard enough to be worth training on: shifts and rotations defeat a linear classifier,
// convolutions cope. Every byte follows from the seed, on any machine: the arithmetic is plain
// IEEE, without the mathematics library.
#ifndef GRAPEVINE_MODEL_DATASETS_SYNTHETIC_H_
#define GRAPEVINE_MODEL_DATASETS_SYNTHETIC_H_

#include <cstdint>

#include "model/data/dataset.h"

namespace grapevine {

struct SyntheticOptions {
  int64_t train = 10000;  // samples
  int64_t test = 2000;
  // Seeds the data alone, so that runs with other seeds share them.
  uint64_t seed = 1;
};

// 28 x 28 x 1, 10 classes, all equally frequent.
TrainTest MakeSynthetic(const SyntheticOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_SYNTHETIC_H_
