#include "model/datasets/image_folder.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "kernels/passes/crc32c.h"
#include "model/datasets/dataset_registry.h"
#include "model/datasets/image_listing.h"
#include "model/datasets/jpeg.h"
#include "model/datasets/resized_crop.h"
#include "random/keyed_random.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

// The largest reduction (of 1, 2, 4, 8) that leaves a part `size` pixels or more.
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

  // Of names and sizes of files: to read them all would take too long.
  uint32_t Checksum(uint32_t crc) const override {
    const uint64_t identity[] = {listing_.checksum(), static_cast<uint64_t>(options_.resize)};
    return Crc32c(crc, identity, sizeof(identity));
  }

  int64_t bytes() const override {
    return listing_.bytes() + static_cast<int64_t>(labels().size_bytes());
  }

 private:
  // `choose_part` gets the extent of the file's image.
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

  // To the same part of an image of other extents.
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

namespace {

absl::StatusOr<TrainTest> MakeImageFolder(const Spec& spec) {
  SpecReader reader(spec);
  ImageFolderOptions options;
  const std::string folder = reader.Argument();
  options.size = reader.Integer("size", options.size, 8, 4096);
  // The usual proportion: 256 for 224.
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

}  // namespace grapevine
