// What happened to each node's algorithm in a real run, in which order: enough to run it again
// without a network (sim/replay/replay.h).
//
// A node's recording is self-delimiting: that of a run is those of its nodes, in any order, in one
// file or in several. One that breaks off is as good as far as it goes: so ends that of a node
// which died.
#ifndef GRAPEVINE_RUN_RECORDING_RECORDING_H_
#define GRAPEVINE_RUN_RECORDING_RECORDING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "run/recording/recording.pb.h"

namespace grapevine {

// What RecordingEnd has of a model.
uint32_t ModelChecksum(std::span<const float> model);

// Immutable once read. Its memory is that of its bytes.
class RecordedNode {
 public:
  const RecordingHeader& header() const { return header_; }
  Rank rank() const { return header_.rank(); }
  int64_t events() const { return events_; }
  // Absent where the recording breaks off.
  const std::optional<RecordingEnd>& end() const { return end_; }
  const std::string& file() const { return file_; }
  // "run.rec: rank 2, offset 345": for errors.
  std::string At(int64_t offset) const;

 private:
  friend class RecordingReader;
  friend class EventCursor;
  struct Piece {
    size_t begin;    // in bytes_
    int64_t offset;  // in the file
  };

  std::string file_;
  RecordingHeader header_;
  std::optional<RecordingEnd> end_;
  int64_t events_ = 0;
  std::string bytes_;  // of all events
  std::vector<Piece> pieces_;
};

// Goes through the events of a node, which outlives it. Thread-compatible.
class EventCursor {
 public:
  explicit EventCursor(const RecordedNode* node) : node_(node) { Read(); }

  bool done() const { return !event_; }
  // Unless it is done:
  const Event& event() const { return *event_; }
  int64_t index() const { return index_; }
  // Where the event is: "run.rec: rank 2, offset 345, event 17".
  std::string Where() const;
  void Next();

 private:
  void Read();

  const RecordedNode* node_;
  size_t at_ = 0;    // of the event
  size_t next_ = 0;  // behind it
  size_t piece_ = 0;
  int64_t index_ = 0;
  std::optional<Event> event_;
};

// The recordings of all nodes of one run, by rank. Safe on hostile input: checks all checksums and
// events, and that each rank is there once. Errors are kInput and name the file, the offset, the
// rank and what to do.
absl::StatusOr<std::vector<RecordedNode>> ReadRecordings(std::span<const std::string> files);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDING_H_
