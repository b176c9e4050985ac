// Makes the recording of one node (recording.h) while the node runs: notes the events of its
// algorithm, and writes them to a file.
//
// Thread-compatible.
#ifndef GRAPEVINE_RUN_RECORDING_RECORDER_H_
#define GRAPEVINE_RUN_RECORDING_RECORDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "run/recording/recording.pb.h"
#include "system/file_descriptor.h"

namespace grapevine {

// An algorithm whose events are noted, in the order in which it sees them.
class RecordingAlgorithm final : public Algorithm {
 public:
  // Receives every event before the algorithm does. Its error ends the run.
  using Recorder = std::function<absl::Status(const Event&)>;

  RecordingAlgorithm(std::unique_ptr<Algorithm> algorithm, Recorder record)
      : algorithm_(std::move(algorithm)), record_(std::move(record)) {}

  absl::Status On(const Event& event, Host& host) override {
    if (std::holds_alternative<Prepare>(event) || std::holds_alternative<ViewChanged>(event)) {
      return absl::UnimplementedError("a change of members cannot be recorded; leave out --record");
    }
    absl::Status status = record_(event);
    return status.ok() ? algorithm_->On(event, host) : status;
  }
  absl::Status VisitState(StateVisitor& state, Host& host) override {
    return algorithm_->VisitState(state, host);
  }
  Round round() const override { return algorithm_->round(); }
  std::vector<Waiting> waiting_for() const override { return algorithm_->waiting_for(); }
  std::vector<Rank> Peers(Round from, Round to) const override {
    return algorithm_->Peers(from, to);
  }

 private:
  const std::unique_ptr<Algorithm> algorithm_;
  const Recorder record_;
};

// Returns the path of a node's recording in the node's folder.
std::string NodeRecordingPath(const std::string& folder);

// Writes the recording of one node. Events are handed to the system in blocks of some kilobytes and
// never flushed to the disk: a process that is killed loses the last block, a machine that fails
// may lose more. Errors are kOutput and name the path. After an error, nothing more is written.
class RecordingWriter {
 public:
  // Creates the file, replacing an earlier one.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(std::string path,
                                                                 const RecordingHeader& header);
  // Writes what is pending, so that the recording of a run that failed goes to its last event.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  absl::Status Add(const Event& event);
  // Completes the recording; must be the last call. `model` is the node's final model; empty: none.
  absl::Status Finish(std::span<const float> model);

 private:
  RecordingWriter(std::string path, UniqueDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status Flush();
  absl::Status Write(const std::string& bytes);

  const std::string path_;
  UniqueDescriptor file_;
  std::string pending_;  // events that are not written yet
  int64_t events_ = 0;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDER_H_
