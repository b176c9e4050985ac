// Reads a data set from an archive of NumPy arrays, as numpy.savez and numpy.savez_compressed write
// it.
//
// The archive is a ZIP file of .npy files (npy.h). The arrays have the names that they have in
// Keras' mnist.npz: x_train, y_train, x_test and y_test. Other arrays are ignored.
#ifndef GRAPEVINE_MODEL_DATASETS_NPZ_H_
#define GRAPEVINE_MODEL_DATASETS_NPZ_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

struct NpzOptions {
  int64_t classes = 0;  // 0: one more than the greatest label, at least 2
  bool augment = false;
  int64_t channels = 0;  // expected channels of the images; 0 accepts 1, 3 or 4
  // Mean and deviation, one value for each channel or one for all. If they are empty, bytes are
  // normalized by the mean and deviation of the training images, and floats stay as they are.
  std::vector<float> mean;
  std::vector<float> deviation;
};

// Reads an archive. Images are (N, height, width), (N, height, width, channels) or (N, features),
// of type uint8, float32 or float64 in any byte order. Labels are (N,) or (N, 1), of any integer
// type. Errors carry Failure::kInput, name the file and the array, and say what to do in NumPy.
absl::StatusOr<TrainTest> ReadNpz(const std::string& path, const NpzOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_NPZ_H_
