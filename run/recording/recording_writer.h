// Writes the recording of one node (recording.h) while it runs.
#ifndef GRAPEVINE_RUN_RECORDING_RECORDING_WRITER_H_
#define GRAPEVINE_RUN_RECORDING_RECORDING_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "run/recording/recording.pb.h"
#include "system/file_descriptor.h"

namespace grapevine {

// In a node's folder.
std::string NodeRecordingPath(const std::string& folder);

// Thread-compatible. Events are handed to the system in blocks of some kilobytes, never flushed to
// the disk: a process that is killed loses the last block, a machine that fails more. Errors are
// kOutput and name the path; after one, nothing more is written.
class RecordingWriter {
 public:
  // Replaces the file.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(std::string path,
                                                                 const RecordingHeader& header);
  // Writes what is pending: the recording of a run that failed goes to its last event.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  absl::Status Add(const Event& event);
  // The last call. `model` is the node's final one; empty: none.
  absl::Status Finish(std::span<const float> model);

 private:
  RecordingWriter(std::string path, UniqueDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status Flush();
  absl::Status Write(const std::string& bytes);

  const std::string path_;
  UniqueDescriptor file_;
  std::string pending_;  // events
  int64_t events_ = 0;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDING_WRITER_H_
