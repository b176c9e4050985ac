// A built-in data set: ten digits, each sample a randomly bent, rotated, shifted and jittered
// pen stroke under noise.
//
// The data set is hard enough to be worth training on: shifts and rotations defeat a linear
// classifier, while convolutions cope with them. Every byte is a function of the seed, on every
// machine, because the arithmetic is plain IEEE, without the mathematics library.
#ifndef GRAPEVINE_MODEL_DATASETS_SYNTHETIC_H_
#define GRAPEVINE_MODEL_DATASETS_SYNTHETIC_H_

#include <cstdint>

#include "model/data/dataset.h"

namespace grapevine {

struct SyntheticOptions {
  int64_t train = 10000;  // number of training samples
  int64_t test = 2000;    // number of test samples
  // Seed of the data alone, so that runs with different seeds share the data.
  uint64_t seed = 1;
};

// Makes a data set of 28 x 28 x 1 images in 10 equally frequent classes.
TrainTest MakeSynthetic(const SyntheticOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_SYNTHETIC_H_
