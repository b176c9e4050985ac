#include "run/records/background_lines.h"

#include <utility>

#include "run/records/output_file.h"

namespace grapevine {
namespace {

// For what is left of a run that has failed.
constexpr std::chrono::seconds kPatience{2};

BackgroundWriter::Options Appending(std::shared_ptr<LineFile> file,
                                    std::function<void(const absl::Status&)> failed) {
  return {.write = [file](std::string_view line) { return file->Append(line); },
          .name = file->path(),
          .capacity = BackgroundLines::kCapacity,
          .failed = [failed = std::move(failed)](
                        const absl::Status& why) { failed(AsOutputStatus(why)); },
          .patience = kPatience};
}

}  // namespace

BackgroundLines::BackgroundLines(std::unique_ptr<LineFile> file,
                                 std::function<void(const absl::Status&)> failed)
    : writer_(Appending(std::move(file), std::move(failed))) {}

absl::Status BackgroundLines::Drain(std::chrono::steady_clock::time_point deadline) {
  return AsOutputStatus(writer_.Drain(deadline));
}

}  // namespace grapevine
