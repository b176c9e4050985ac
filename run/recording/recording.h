// What happened to each node's algorithm in a real run, in which order: enough to run it again
// without a network (sim/replay/replay.h).
//
// A node's recording is self-delimiting: that of a run is those of its nodes, in any order, in one
// file or in several. One that breaks off is as good as far as it goes: so ends that of a node
// which died.
//
// Its bytes are the line kMagic and blocks with checksums: one header, any number with events, one
// end. A block is its kind (a letter), the length of its content (4 bytes) and the CRC-32C of these
// 5 bytes (4), the content, and the CRC-32C of that (4); numbers are little-endian. So a stream
// that breaks off, in a block or between two, is told from one that was damaged. An event is a byte
// for its kind and varints for its members (protobuf's encoding, signed ones zigzag).
//
// Functions are pure, save for reading files; safe from any thread and on hostile input.
#ifndef GRAPEVINE_RUN_RECORDING_RECORDING_H_
#define GRAPEVINE_RUN_RECORDING_RECORDING_H_

#include <cstddef>
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

// With what every version's first line begins.
inline constexpr std::string_view kMagicOfAll = "grapevine-recording-";
inline constexpr std::string_view kMagic = "grapevine-recording-1\n";

enum class BlockKind : char { kHeader = 'H', kEvents = 'E', kEnd = 'Z' };

struct Block {
  BlockKind kind = BlockKind::kEvents;
  std::string_view content;
};

// Before and after a block's content.
inline constexpr size_t kBlockHead = 9;
inline constexpr size_t kBlockTail = 4;

// No header or end is longer.
inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;

void AppendBlock(const Block& block, std::string* bytes);
// The block with which `bytes` begin; nothing if they end before it does. Errors say what is
// wrong with it.
absl::StatusOr<std::optional<Block>> ParseBlock(std::string_view bytes);

void AppendEvent(const Event& event, std::string* bytes);
// Removes the event with which `bytes` begin, of a run of so many nodes. What drivers know better
// is not in it: the bytes and the note of a message. Errors say what is wrong.
absl::StatusOr<Event> TakeEvent(Rank nodes, std::string_view* bytes);

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

// The recordings of all nodes of one run, by rank. Checks all checksums and events, and that each
// rank is there once. Errors are kInput and name the file, the offset, the rank and what to do.
absl::StatusOr<std::vector<RecordedNode>> ReadRecordings(std::span<const std::string> files);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDING_H_
