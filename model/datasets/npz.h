// Arrays of NumPy as a data set: an archive of numpy.savez or numpy.savez_compressed.
//
// A ZIP file of .npy files (npy.h) under the names that Keras' mnist.npz has: x_train, y_train,
// x_test and y_test. Others are passed over.
#ifndef GRAPEVINE_MODEL_DATASETS_NPZ_H_
#define GRAPEVINE_MODEL_DATASETS_NPZ_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

struct NpzOptions {
  int64_t classes = 0;  // 0: as many as the greatest label says, at least 2
  bool augment = false;
  int64_t channels = 0;  // of images with an axis for them; 0: 1, 3 or 4
  // One value for each channel, or one for all. Empty: those of the training images where they are
  // bytes; floats stay as they are.
  std::vector<float> mean;
  std::vector<float> deviation;
};

// Images are (N, height, width), (N, height, width, channels) or (N, features), of type uint8,
// float32 or float64 in any byte order; labels (N,) or (N, 1), of any type of integers. Errors
// carry Failure::kInput, name the file and the array, and say what to do in NumPy.
absl::StatusOr<TrainTest> ReadNpz(const std::string& path, const NpzOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_NPZ_H_
