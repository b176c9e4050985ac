#include "model/datasets/image_listing.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "kernels/passes/crc32c.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

// Samples are numbered by int32_t.
constexpr size_t kMaxImages = std::numeric_limits<int32_t>::max();

bool Hidden(const std::string& name) { return name.starts_with("."); }

bool IsJpegName(const std::string& name) {
  return absl::EndsWithIgnoreCase(name, ".jpg") || absl::EndsWithIgnoreCase(name, ".jpeg");
}

// Calls `visit` with every visible entry and its name, until one is refused.
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

}  // namespace

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

}  // namespace grapevine
