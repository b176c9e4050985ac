// CIFAR-10 in its binary version: records of one label byte and 32 x 32 pixels
// in three planes, red, green and blue.
// https://www.cs.toronto.edu/~kriz/cifar.html
#ifndef GRAPEVINE_MODEL_DATASETS_CIFAR10_H_
#define GRAPEVINE_MODEL_DATASETS_CIFAR10_H_

#include <string>

#include "absl/status/statusor.h"
#include "model/data/augmentation.h"
#include "model/data/dataset.h"

namespace grapevine {

// Reads a folder with any number of files data_batch_*.bin and a file test_batch.bin, each with
// any number of records. The training files are read in the order of their numbers. Errors
// carry Failure::kInput and name the file, what was expected and what was found.
absl::StatusOr<TrainTest> ReadCifar10(const std::string& folder, const Augmentation& augmentation);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_CIFAR10_H_
