#include "model/datasets/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/spec.h"
#include "base/status.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"

namespace grapevine {
namespace {

// The largest array in bytes. A header that claims a larger one is taken to be broken.
constexpr int64_t kLargestArray = int64_t{1} << 36;

// Reads plain files as well as compressed ones. Thread-compatible.
class GzipReader {
 public:
  explicit GzipReader(std::string path)
      : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb"), gzclose) {}

  absl::Status status() const {
    if (file_ == nullptr) return InputError(path_, "cannot open it", errno);
    return absl::OkStatus();
  }

  // Reads up to `size` bytes; fewer only at the end of the file.
  absl::StatusOr<std::vector<uint8_t>> Read(int64_t size) {
    std::vector<uint8_t> bytes;
    while (static_cast<int64_t>(bytes.size()) < size) {
      // Memory grows with the bytes that the file really has, not with what its header claims: each
      // step reads as many bytes as have been read so far.
      constexpr int64_t kLeast = int64_t{1} << 16, kMost = int64_t{1} << 30;
      const auto before = static_cast<int64_t>(bytes.size());
      const int64_t wanted = std::min(std::clamp(before, kLeast, kMost), size - before);
      bytes.resize(static_cast<size_t>(before + wanted));
      const int read = gzread(file_.get(), bytes.data() + before, static_cast<unsigned>(wanted));
      bytes.resize(static_cast<size_t>(before + std::max(read, 0)));
      RETURN_IF_ERROR(StreamStatus());
      if (read < wanted) break;
    }
    return bytes;
  }

 private:
  absl::Status StreamStatus() const {
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) return InputError(path_, "the compressed stream is cut off");
    if (code != Z_OK && code != Z_STREAM_END) {
      return InputError(path_, absl::StrCat("cannot decompress it: ", message));
    }
    return absl::OkStatus();
  }

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

int64_t BigEndian32(std::span<const uint8_t> bytes) {
  return (int64_t{bytes[0]} << 24) | (bytes[1] << 16) | (bytes[2] << 8) | bytes[3];
}

absl::Status CheckMagic(const std::string& path, std::span<const uint8_t> magic,
                        int64_t dimensions) {
  if (magic.size() < 4) {
    return InputError(path, absl::StrCat("expected a header of 4 bytes, found ", magic.size()));
  }
  if (magic[0] != 0 || magic[1] != 0) {
    return InputError(path, "expected an IDX file, which begins with two zero bytes");
  }
  if (magic[2] != 8) {
    return InputError(path, absl::StrCat("expected elements of type 8 (unsigned bytes), found ",
                                         static_cast<int>(magic[2])));
  }
  if (magic[3] != dimensions) {
    return InputError(
        path,
        absl::StrCat("expected ", dimensions, " dimension(s), found ", static_cast<int>(magic[3]),
                     dimensions == 1 ? "; are these images rather than labels?"
                                     : "; are these labels rather than images?"));
  }
  return absl::OkStatus();
}

// Returns the product of the extents. Refuses empty and absurdly large arrays.
absl::StatusOr<int64_t> ElementCount(const std::string& path, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent == 0 || extent > kLargestArray / count) {
      return InputError(path, absl::StrCat("its extents are ", absl::StrJoin(shape, " x "),
                                           "; expected none to be 0 and at most ", kLargestArray,
                                           " bytes in all"));
    }
    count *= extent;
  }
  return count;
}

absl::StatusOr<std::string> PlainOrCompressed(const std::string& folder, const std::string& name) {
  const std::string plain = (std::filesystem::path(folder) / name).string();
  for (const std::string& path : {plain, plain + ".gz"}) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return InputError(folder, absl::StrCat("expected ", name, " or ", name, ".gz, found neither"));
}

absl::StatusOr<std::shared_ptr<const Dataset>> ReadPart(const std::string& folder,
                                                        const std::string& part) {
  ASSIGN_OR_RETURN(const auto images_path, PlainOrCompressed(folder, part + "-images-idx3-ubyte"));
  ASSIGN_OR_RETURN(const auto labels_path, PlainOrCompressed(folder, part + "-labels-idx1-ubyte"));
  ASSIGN_OR_RETURN(IdxArray images, ReadIdx(images_path, 3));
  ASSIGN_OR_RETURN(IdxArray labels, ReadIdx(labels_path, 1));
  if (labels.shape[0] != images.shape[0]) {
    return InputError(labels_path,
                      absl::StrCat("expected ", images.shape[0], " labels, one for ",
                                   "each image of ", images_path, ", found ", labels.shape[0]));
  }
  DatasetTraits traits{
      .name = "mnist",
      .shape = {.height = images.shape[1], .width = images.shape[2], .channels = 1},
      .classes = 10,
      .normalization = {.mean = {0.1307f}, .deviation = {0.3081f}}};
  std::vector<Label> classes(labels.elements.begin(), labels.elements.end());
  RETURN_IF_ERROR(CheckLabels(labels_path, classes, traits.classes));
  return std::make_shared<const MemoryDataset>(std::move(traits), std::move(images.elements),
                                               std::move(classes));
}

absl::StatusOr<TrainTest> MakeMnist(const Spec& spec) {
  SpecReader reader(spec);
  const std::string folder = reader.Argument();
  RETURN_IF_ERROR(reader.Finish());
  if (folder.empty()) return FolderMissingError(spec);
  return ReadMnist(folder);
}

const Registration kMnist(Datasets(), {.name = "mnist",
                                       .options = ":DIR",
                                       .help = "its four IDX files, plain or .gz",
                                       .read = MakeMnist});

}  // namespace

absl::StatusOr<IdxArray> ReadIdx(const std::string& path, int64_t dimensions) {
  GzipReader reader(path);
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(const std::vector<uint8_t> magic, reader.Read(4));
  RETURN_IF_ERROR(CheckMagic(path, magic, dimensions));
  ASSIGN_OR_RETURN(const std::vector<uint8_t> extents, reader.Read(4 * dimensions));
  if (static_cast<int64_t>(extents.size()) != 4 * dimensions) {
    return InputError(path, absl::StrCat("expected a header of ", 4 + 4 * dimensions,
                                         " bytes, found ", 4 + extents.size()));
  }
  IdxArray array;
  for (int64_t d = 0; d < dimensions; ++d) {
    array.shape.push_back(BigEndian32(std::span(extents).subspan(static_cast<size_t>(4 * d))));
  }
  ASSIGN_OR_RETURN(const int64_t count, ElementCount(path, array.shape));
  // One more byte than expected shows whether the file continues.
  ASSIGN_OR_RETURN(std::vector<uint8_t> elements, reader.Read(count + 1));
  if (static_cast<int64_t>(elements.size()) != count) {
    const bool more = static_cast<int64_t>(elements.size()) > count;
    return InputError(path, absl::StrCat("expected ", absl::StrJoin(array.shape, " x "), " = ",
                                         count, " bytes after the header, found ",
                                         more ? "more" : absl::StrCat(elements.size())));
  }
  array.elements = std::move(elements);
  return array;
}

absl::StatusOr<TrainTest> ReadMnist(const std::string& folder) {
  ASSIGN_OR_RETURN(std::shared_ptr<const Dataset> train, ReadPart(folder, "train"));
  ASSIGN_OR_RETURN(std::shared_ptr<const Dataset> test, ReadPart(folder, "t10k"));
  const ImageShape& expected = train->traits().shape;
  const ImageShape& found = test->traits().shape;
  if (found != expected) {
    return InputError(
        folder, absl::StrCat("t10k-images-idx3-ubyte: expected images of ", expected.height, " x ",
                             expected.width, " like the training set's, found ", found.height,
                             " x ", found.width));
  }
  return TrainTest{std::move(train), std::move(test)};
}

}  // namespace grapevine
