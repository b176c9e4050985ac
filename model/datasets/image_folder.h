// Images in folders like ImageNet's: DIR/train/CLASS/*.jpg and DIR/val/CLASS/*.jpg.
//
// Files are listed at the start and decoded when a batch needs them, so that a data set may be
// larger than memory. Images of any size become square.
#ifndef GRAPEVINE_MODEL_DATASETS_IMAGE_FOLDER_H_
#define GRAPEVINE_MODEL_DATASETS_IMAGE_FOLDER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

struct ImageFolderOptions {
  int64_t size = 224;  // side of the square images, in pixels
  // Shorter side, in pixels, to which images without augmentation are resized before their centre
  // is cut out; at least `size`.
  int64_t resize = 256;
  // Whether training uses random crops and flips.
  bool augment = true;
  // Largest number of classes to read; the first ones are read.
  int64_t most_classes = kMaxClasses;
};

// Reads a folder. Images have three channels and are normalized by ImageNet's mean and deviation.
// Refuses a class without images, an image that is empty or not a file, whatever cannot be read,
// and parts with different classes. Errors carry Failure::kInput and name the folder or file.
absl::StatusOr<TrainTest> ReadImageFolder(const std::string& folder,
                                          const ImageFolderOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_IMAGE_FOLDER_H_
