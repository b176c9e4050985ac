#include "model/datasets/cifar10.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"
#include "system/file.h"

namespace grapevine {
namespace {

constexpr ImageShape kShape{.height = 32, .width = 32, .channels = 3};
constexpr size_t kPlane = 32 * 32;
constexpr size_t kRecord = 1 + 3 * kPlane;

struct Records {
  std::vector<uint8_t> pixels;  // channels last
  std::vector<Label> labels;
};

void AppendRecord(std::span<const uint8_t> record, Records* records) {
  records->labels.push_back(record[0]);
  const uint8_t* planes = record.data() + 1;
  const size_t begin = records->pixels.size();
  records->pixels.resize(begin + 3 * kPlane);
  uint8_t* pixels = &records->pixels[begin];
  for (size_t i = 0; i < 3 * kPlane; ++i) pixels[i] = planes[i % 3 * kPlane + i / 3];
}

absl::Status AppendFile(const std::string& path, Records* records) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const std::span<const uint8_t> bytes = (*file)->bytes();
  if (bytes.empty() || bytes.size() % kRecord != 0) {
    return InputError(path, absl::StrCat("expected records of ", kRecord, " bytes, found ",
                                         bytes.size(), " bytes, which is ", bytes.size() / kRecord,
                                         " records and ", bytes.size() % kRecord, " bytes"));
  }
  const size_t before = records->labels.size();
  records->pixels.reserve(records->pixels.size() + bytes.size());
  for (size_t at = 0; at < bytes.size(); at += kRecord) {
    AppendRecord(bytes.subspan(at, kRecord), records);
  }
  return CheckLabels(path, std::span(records->labels).subspan(before), 10);
}

// Orders data_batch_2.bin before data_batch_10.bin.
bool ByNumber(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

absl::StatusOr<std::vector<std::string>> TrainingFiles(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (absl::StartsWith(name, "data_batch_") && absl::EndsWith(name, ".bin")) {
      paths.push_back(entry->path().string());
    }
  }
  if (error) return InputError(folder, "cannot list the folder", error.value());
  if (paths.empty()) return InputError(folder, "expected files data_batch_*.bin, found none");
  std::sort(paths.begin(), paths.end(), ByNumber);
  return paths;
}

absl::StatusOr<std::shared_ptr<const Dataset>> ReadPart(const std::vector<std::string>& paths,
                                                        const Augmentation& augmentation) {
  Records records;
  for (const std::string& path : paths) {
    RETURN_IF_ERROR(AppendFile(path, &records));
  }
  DatasetTraits traits{.name = "cifar10",
                       .shape = kShape,
                       .classes = 10,
                       .normalization = {.mean = {0.4914f, 0.4822f, 0.4465f},
                                         .deviation = {0.2470f, 0.2435f, 0.2616f}},
                       .augmentation = augmentation};
  return std::make_shared<const MemoryDataset>(std::move(traits), std::move(records.pixels),
                                               std::move(records.labels));
}

absl::StatusOr<TrainTest> MakeCifar10(const Spec& spec) {
  SpecReader reader(spec);
  const std::string folder = reader.Argument();
  const bool augment = reader.Choice("augment", {"yes", "no"}) == "yes";
  RETURN_IF_ERROR(reader.Finish());
  if (folder.empty()) return FolderMissingError(spec);
  return ReadCifar10(folder, augment ? Augmentation{.padding = 4, .mirror = true} : Augmentation{});
}

const Registration kCifar10(
    Datasets(),
    {.name = "cifar10",
     .options = ":DIR[:augment=no]",
     .help = "the binary version; augmented by padding, cropping and flipping unless augment=no",
     .read = MakeCifar10});

}  // namespace

absl::StatusOr<TrainTest> ReadCifar10(const std::string& folder, const Augmentation& augmentation) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, TrainingFiles(folder));
  ASSIGN_OR_RETURN(auto train, ReadPart(paths, augmentation));
  ASSIGN_OR_RETURN(
      auto test,
      ReadPart({(std::filesystem::path(folder) / "test_batch.bin").string()}, augmentation));
  return TrainTest{std::move(train), std::move(test)};
}

}  // namespace grapevine
