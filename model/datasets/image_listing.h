// The images of a folder with one folder for each class: DIR/CLASS/NAME.jpg.
//
// Classes are numbered in the order of their folders' names, images in the order of
// classes and names (bytewise), the same on every machine. What begins with a dot is
// passed over, as are files beside the class folders and files that are no .jpg or
// .jpeg in any case; links are followed.
#ifndef GRAPEVINE_MODEL_DATASETS_IMAGE_LISTING_H_
#define GRAPEVINE_MODEL_DATASETS_IMAGE_LISTING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

// Immutable once read; safe from any thread.
class ImageListing {
 public:
  // Lists the first `most_classes` classes of `folder`; opens no image. Refuses a
  // class without images, an image that is empty or no file, and whatever cannot be
  // read. Errors carry Failure::kInput and name the folder or file.
  static absl::StatusOr<ImageListing> Read(const std::string& folder, int64_t most_classes);

  const std::vector<std::string>& classes() const { return classes_; }
  // Of each image.
  const std::vector<Label>& labels() const { return labels_; }
  std::string Path(int64_t i) const;
  // CRC-32C of all classes' and images' names, and the sizes of the files.
  uint32_t checksum() const { return checksum_; }
  // What it occupies in memory.
  int64_t bytes() const;

 private:
  struct File {
    std::string name;
    uint64_t size = 0;
  };

  explicit ImageListing(std::string folder) : folder_(std::move(folder)) {}

  absl::Status ListClasses(int64_t most_classes);
  static absl::StatusOr<std::vector<File>> ListImages(const std::string& folder);
  absl::Status AddClass(const std::string& name);

  std::string folder_;
  std::vector<std::string> classes_;
  std::vector<Label> labels_;
  // One string for millions of names, and where each ends.
  std::string names_;
  std::vector<uint64_t> ends_;
  uint32_t checksum_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_IMAGE_LISTING_H_
