// Images in folders like ImageNet's: DIR/train/CLASS/*.jpg and DIR/val/CLASS/*.jpg.
//
// Files are listed at the start and decoded when a batch needs them: a data set may be larger
// than memory. Images of any size become square.
#ifndef GRAPEVINE_MODEL_DATASETS_IMAGE_FOLDER_H_
#define GRAPEVINE_MODEL_DATASETS_IMAGE_FOLDER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

struct ImageFolderOptions {
  int64_t size = 224;  // of the square images
  // The shorter side of images that are not varied, before their centre is cut out; at least
  // `size`.
  int64_t resize = 256;
  // Random crops and flips in training.
  bool augment = true;
  // Only this many classes, the first ones.
  int64_t most_classes = kMaxClasses;
};

// Three channels, ImageNet's mean and deviation. Errors carry Failure::kInput and
// name the folder or file: a class without images, an image that
// is empty or no file, whatever cannot be read, and if both parts do not have
// the same classes.
absl::StatusOr<TrainTest> ReadImageFolder(const std::string& folder,
                                          const ImageFolderOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_IMAGE_FOLDER_H_
