// Records of a label and an image (model/datasets/cifar10.h): the input is the file to train with
// and the one to test with.
#include "model/datasets/cifar10.h"

#include <glog/logging.h>

#include <filesystem>
#include <memory>

#include "system/temporary_folder.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

constexpr size_t kCifarRecord = 1 + 3 * 32 * 32;

// With links to the input under the names of both files.
std::string FolderOf(const fuzz::InputFile& file) {
  static const auto folder = *TemporaryFolder::Make();
  for (const char* name : {"/data_batch_1.bin", "/test_batch.bin"}) {
    const std::string link = folder->path() + name;
    std::filesystem::remove(link);
    std::filesystem::create_symlink(file.path(), link);
  }
  return folder->path();
}

FUZZ_TARGET(cifar10) {
  const fuzz::InputFile file(data, size);
  const auto read = ReadCifar10(FolderOf(file), {});
  if (!read.ok()) return fuzz::RequireClass(read.status(), Failure::kInput);
  CHECK_EQ(size % kCifarRecord, 0u);
  for (const auto& part : {read->train, read->test}) {
    CHECK_EQ(static_cast<size_t>(part->size()), size / kCifarRecord);
    for (int64_t i = 0; i < part->size(); ++i) {
      const Label label = part->labels()[static_cast<size_t>(i)];
      CHECK_EQ(label, data[static_cast<size_t>(i) * kCifarRecord]);
      CHECK_LT(label, 10);
    }
  }
}

}  // namespace
}  // namespace grapevine
