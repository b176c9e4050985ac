#include "model/datasets/image_folder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "kernels/passes/crc32c.h"
#include "model/data/augmentation.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"
#include "model/datasets/jpeg.h"
#include "random/keyed_random.h"
#include "system/file.h"

namespace grapevine {
namespace {

// The images of a folder with one folder for each class: DIR/CLASS/NAME.jpg.
//
// Classes are numbered in the order of their folders' names, images in the order of
// classes and names (bytewise), which is the same on every machine. Names that begin with a dot are
// skipped, and so are files beside the class folders and files whose extension is not .jpg or
// .jpeg (in upper or lower case). Links are followed.

// Immutable once read; safe from any thread.
class ImageListing {
 public:
  // Lists the first `most_classes` classes of `folder` without opening an image. Refuses a
  // class without images, an image that is empty or not a file, and whatever cannot be
  // read. Errors carry Failure::kInput and name the folder or file.
  static absl::StatusOr<ImageListing> Read(const std::string& folder, int64_t most_classes);

  const std::vector<std::string>& classes() const { return classes_; }
  // The labels, one for each image.
  const std::vector<Label>& labels() const { return labels_; }
  std::string Path(int64_t i) const;
  // The CRC-32C of the names of all classes and images, and of the sizes of the files.
  uint32_t checksum() const { return checksum_; }
  // The size of the listing in memory.
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
  // All names, possibly millions, in one string, and the position where each ends.
  std::string names_;
  std::vector<uint64_t> ends_;
  uint32_t checksum_ = 0;
};

namespace fs = std::filesystem;

// Samples are numbered by int32_t.
constexpr size_t kMaxImages = std::numeric_limits<int32_t>::max();

bool Hidden(const std::string& name) { return name.starts_with("."); }

bool IsJpegName(const std::string& name) {
  return absl::EndsWithIgnoreCase(name, ".jpg") || absl::EndsWithIgnoreCase(name, ".jpeg");
}

// Calls `visit` with every visible entry and its name, until `visit` returns an error.
template <typename Visit>
absl::Status ForEachEntry(const std::string& folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (Hidden(name)) continue;
    RETURN_IF_ERROR(visit(*entry, std::move(name)));
  }
  if (error) return InputError(folder, "cannot list the folder", error.value());
  return absl::OkStatus();
}

absl::StatusOr<ImageListing> ImageListing::Read(const std::string& folder, int64_t most_classes) {
  ImageListing listing(folder);
  RETURN_IF_ERROR(listing.ListClasses(most_classes));
  for (const std::string& name : listing.classes_) {
    RETURN_IF_ERROR(listing.AddClass(name));
  }
  return listing;
}

std::string ImageListing::Path(int64_t i) const {
  const auto image = static_cast<size_t>(i);
  const uint64_t begin = image == 0 ? 0 : ends_[image - 1];
  return absl::StrCat(folder_, "/", classes_[labels_[image]], "/",
                      names_.substr(begin, ends_[image] - begin));
}

int64_t ImageListing::bytes() const {
  return static_cast<int64_t>(names_.size() + ends_.size() * sizeof(uint64_t) +
                              labels_.size() * sizeof(Label));
}

absl::Status ImageListing::ListClasses(int64_t most_classes) {
  bool images_beside = false;
  absl::Status status =
      ForEachEntry(folder_, [&](const fs::directory_entry& entry, std::string name) {
        std::error_code error;
        if (entry.is_directory(error)) {
          classes_.push_back(std::move(name));
        } else {
          images_beside = images_beside || IsJpegName(name);
        }
        return absl::OkStatus();
      });
  RETURN_IF_ERROR(status);
  if (classes_.empty()) {
    return InputError(folder_,
                      absl::StrCat("expected one folder of images for each class, found ",
                                   images_beside ? "images without one; move each into the folder "
                                                   "of its class"
                                                 : "no folder"));
  }
  std::ranges::sort(classes_);
  if (static_cast<int64_t>(classes_.size()) > most_classes) {
    classes_.resize(static_cast<size_t>(most_classes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ImageListing::File>> ImageListing::ListImages(
    const std::string& folder) {
  std::vector<File> files;
  absl::Status status =
      ForEachEntry(folder, [&](const fs::directory_entry& entry, std::string name) {
        if (!IsJpegName(name)) return absl::OkStatus();
        std::error_code error;
        const uint64_t size = entry.file_size(error);
        if (error) {
          return InputError(entry.path().string(), "cannot tell its size", error.value());
        }
        if (size == 0) {
          return InputError(entry.path().string(), "expected a JPEG image, found an empty file");
        }
        files.push_back({std::move(name), size});
        return absl::OkStatus();
      });
  RETURN_IF_ERROR(status);
  if (files.empty()) {
    return InputError(folder,
                      "expected images (.jpg or .jpeg) of this class, found none; add some "
                      "or remove the folder");
  }
  std::ranges::sort(files, {}, &File::name);
  return files;
}

absl::Status ImageListing::AddClass(const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<File> files, ListImages(absl::StrCat(folder_, "/", name)));
  if (labels_.size() + files.size() > kMaxImages) {
    return InputError(folder_, absl::StrCat("more than ", kMaxImages, " images"));
  }
  const auto label = static_cast<Label>(&name - classes_.data());
  for (const File& file : files) {
    labels_.push_back(label);
    names_ += file.name;
    ends_.push_back(names_.size());
    const std::string text = absl::StrCat(name, "/", file.name, " ", file.size, "\n");
    checksum_ = Crc32c(checksum_, text.data(), text.size());
  }
  return absl::OkStatus();
}

// Returns the largest reduction (1, 2, 4 or 8) that leaves the shorter side of the part at least
// `size` pixels.
int Denominator(const CropBox& box, int64_t size) {
  const double shorter = std::min(box.width, box.height);
  int denominator = 8;
  while (denominator > 1 && shorter < static_cast<double>(size * denominator)) denominator /= 2;
  return denominator;
}

class ImageFolder final : public Dataset {
 public:
  ImageFolder(DatasetTraits traits, ImageListing listing, const ImageFolderOptions& options)
      : Dataset(std::move(traits), listing.labels()),
        listing_(std::move(listing)),
        options_(options) {}

  absl::StatusOr<std::span<const uint8_t>> Image(int64_t i, ImageScratch* scratch) const override {
    const auto centre = [&](const ImageExtent& extent) {
      return CentreCrop(extent.width, extent.height, options_.size, options_.resize);
    };
    return Read(i, centre, /*mirrored=*/false, scratch);
  }

  absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t bits,
                                                       ImageScratch* scratch) const override {
    if (traits().augmentation.none()) return Image(i, scratch);
    KeyedRandom random(bits, Purpose::kAugmentation);
    const bool mirrored = random.Below(2) == 1;
    const auto draw = [&](const ImageExtent& extent) {
      return DrawCrop(extent.width, extent.height, &random);
    };
    return Read(i, draw, mirrored, scratch);
  }

  bool decodes() const override { return true; }

  // Covers the names and sizes of files, because reading all files would take too long.
  uint32_t Checksum(uint32_t crc) const override {
    const uint64_t identity[] = {listing_.checksum(), static_cast<uint64_t>(options_.resize)};
    return Crc32c(crc, identity, sizeof(identity));
  }

  int64_t bytes() const override {
    return listing_.bytes() + static_cast<int64_t>(labels().size_bytes());
  }

 private:
  // Decodes image i and crops the part of it that `choose_part` returns for the image's extent.
  template <typename ChoosePart>
  absl::StatusOr<std::span<const uint8_t>> Read(int64_t i, const ChoosePart& choose_part,
                                                bool mirrored, ImageScratch* scratch) const {
    const std::string path = listing_.Path(i);
    const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
    if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
    ASSIGN_OR_RETURN(const ImageExtent whole, JpegExtent(path, (*file)->bytes()));
    CropBox part = choose_part(whole);
    ASSIGN_OR_RETURN(
        const ImageExtent decoded,
        DecodeJpeg(path, (*file)->bytes(), Denominator(part, options_.size), &scratch->decoded));
    Scale(whole, decoded, &part);
    scratch->image.resize(static_cast<size_t>(traits().shape.size()));
    ResizeCrop({scratch->decoded, decoded.width, decoded.height}, part, options_.size, mirrored,
               &scratch->narrowed, scratch->image);
    return std::span<const uint8_t>(scratch->image);
  }

  // Scales a part of an image to the corresponding part of an image with other extents.
  static void Scale(const ImageExtent& from, const ImageExtent& to, CropBox* box) {
    const double x = static_cast<double>(to.width) / static_cast<double>(from.width);
    const double y = static_cast<double>(to.height) / static_cast<double>(from.height);
    *box = {box->left * x, box->top * y, box->width * x, box->height * y};
  }

  const ImageListing listing_;
  const ImageFolderOptions options_;
};

absl::StatusOr<ImageListing> ReadPart(const std::string& folder, const std::string& part,
                                      const ImageFolderOptions& options) {
  const std::string path = absl::StrCat(folder, "/", part);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return InputError(folder, absl::StrCat("expected the folders train and val, with a folder of "
                                           "images for each class in them; found no ",
                                           part));
  }
  return ImageListing::Read(path, options.most_classes);
}

absl::Status CheckSameClasses(const std::string& folder, const std::vector<std::string>& train,
                              const std::vector<std::string>& val) {
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(train, val, std::back_inserter(different));
  if (different.empty()) return absl::OkStatus();
  const bool in_train = std::ranges::binary_search(train, different[0]);
  return InputError(folder, absl::StrCat("expected the same classes in train and val, but '",
                                         different[0], "' is only in ", in_train ? "train" : "val",
                                         "; classes are the names of their folders"));
}

absl::StatusOr<TrainTest> MakeImageFolder(const Spec& spec) {
  SpecReader reader(spec);
  ImageFolderOptions options;
  const std::string folder = reader.Argument();
  options.size = reader.Integer("size", options.size, 8, 4096);
  // The default keeps the usual proportion: 256 for 224.
  options.resize = reader.Integer("resize", options.size * 8 / 7, options.size, 8192);
  options.augment = reader.Choice("augment", {"yes", "no"}) == "yes";
  options.most_classes = reader.Integer("classes", options.most_classes, 2, kMaxClasses);
  RETURN_IF_ERROR(reader.Finish());
  if (folder.empty()) return FolderMissingError(spec);
  return ReadImageFolder(folder, options);
}

const Registration kImageFolder(Datasets(),
                                {.name = "image-folder",
                                 .options = ":DIR[:size=224][:resize=256][:classes=N][:augment=no]",
                                 .help = "JPEG files as DIR/train/CLASS/*.jpg and DIR/val/...",
                                 .read = MakeImageFolder});

}  // namespace

absl::StatusOr<TrainTest> ReadImageFolder(const std::string& folder,
                                          const ImageFolderOptions& options) {
  ASSIGN_OR_RETURN(ImageListing train, ReadPart(folder, "train", options));
  ASSIGN_OR_RETURN(ImageListing val, ReadPart(folder, "val", options));
  RETURN_IF_ERROR(CheckSameClasses(folder, train.classes(), val.classes()));
  DatasetTraits traits{
      .name = "image-folder",
      .shape = {.height = options.size, .width = options.size, .channels = 3},
      .classes = static_cast<int64_t>(train.classes().size()),
      .normalization = {.mean = {0.485f, 0.456f, 0.406f}, .deviation = {0.229f, 0.224f, 0.225f}}};
  if (options.augment) traits.augmentation = {.mirror = true, .resized_crop = true};
  return TrainTest{std::make_shared<const ImageFolder>(traits, std::move(train), options),
                   std::make_shared<const ImageFolder>(traits, std::move(val), options)};
}

}  // namespace grapevine
