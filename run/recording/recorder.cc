#include "run/recording/recorder.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/recording/recording.h"
#include "system/disk_wait.h"

namespace grapevine {
namespace {

// The size of a block, some hundreds of events: small enough that a killed process loses little,
// large enough that system calls are few.
constexpr size_t kBlockBytes = 4096;

std::string Framed(BlockKind kind, std::string_view content) {
  std::string bytes;
  AppendBlock({kind, content}, &bytes);
  return bytes;
}

}  // namespace

std::string NodeRecordingPath(const std::string& folder) {
  return absl::StrCat(folder, "/events.rec");
}

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(
    std::string path, const RecordingHeader& header) {
  UniqueDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open()) return OutputError(absl::StrCat("cannot create ", path), errno);
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(std::move(path), std::move(file)));
  RETURN_IF_ERROR(writer->Write(
      absl::StrCat(std::string(kMagic), Framed(BlockKind::kHeader, header.SerializeAsString()))));
  return writer;
}

RecordingWriter::~RecordingWriter() { Flush().IgnoreError(); }

absl::Status RecordingWriter::Add(const Event& event) {
  AppendEvent(event, &pending_);
  ++events_;
  return pending_.size() < kBlockBytes ? status_ : Flush();
}

absl::Status RecordingWriter::Finish(std::span<const float> model) {
  RETURN_IF_ERROR(Flush());
  RecordingEnd end;
  end.set_events(events_);
  end.set_elements(static_cast<int64_t>(model.size()));
  end.set_checksum(ModelChecksum(model));
  return Write(Framed(BlockKind::kEnd, end.SerializeAsString()));
}

absl::Status RecordingWriter::Flush() {
  if (pending_.empty()) return status_;
  const std::string block = Framed(BlockKind::kEvents, std::exchange(pending_, {}));
  return Write(block);
}

absl::Status RecordingWriter::Write(const std::string& bytes) {
  if (!status_.ok()) return status_;
  const DiskWait wait(path_);
  const int error = WriteAll(file_.get(), bytes);
  if (error != 0) status_ = OutputError(absl::StrCat("cannot write ", path_), error);
  return status_;
}

}  // namespace grapevine
