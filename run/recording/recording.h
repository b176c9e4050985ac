// The recording of a real run: what happened to each node's algorithm, and in which order. It is
// enough to run the algorithms again without a network (sim/replay/replay.h).
//
// A node's recording is self-delimiting. The recording of a run consists of those of its nodes, in
// any order, in one file or in several. A recording that breaks off, as that of a node that died
// does, is valid as far as it goes.
//
// The bytes of a node's recording are the line kMagic and blocks with checksums: one header, any
// number of blocks with events, and one end. A block consists of its kind (a letter), the length of
// its content (4 bytes), the CRC-32C of these 5 bytes (4), the content, and the CRC-32C of the
// content (4). Numbers are little-endian. A stream that breaks off, in a block or between two, can
// so be told from one that was damaged. An event is a byte for its kind and varints for its members
// (protobuf's encoding, signed ones zigzag).
//
// Functions are pure, except those that read files. They are safe from any thread and on hostile
// input.
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

// The beginning of the first line in every version of the format.
inline constexpr std::string_view kMagicOfAll = "grapevine-recording-";
inline constexpr std::string_view kMagic = "grapevine-recording-1\n";

enum class BlockKind : char { kHeader = 'H', kEvents = 'E', kEnd = 'Z' };

struct Block {
  BlockKind kind = BlockKind::kEvents;
  std::string_view content;
};

// Bytes before and after a block's content.
inline constexpr size_t kBlockHead = 9;
inline constexpr size_t kBlockTail = 4;

// The longest content of a header or an end.
inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;

void AppendBlock(const Block& block, std::string* bytes);
// Returns the block at the beginning of `bytes`; absent if `bytes` end before the block does.
// Errors say what is wrong with the block.
absl::StatusOr<std::optional<Block>> ParseBlock(std::string_view bytes);

void AppendEvent(const Event& event, std::string* bytes);
// Removes the event at the beginning of `bytes`, of a run of `nodes` nodes, and returns it. The
// event lacks what drivers know better: the bytes and the note of a message. Errors say what is
// wrong.
absl::StatusOr<Event> TakeEvent(Rank nodes, std::string_view* bytes);

// Returns the checksum of a model in RecordingEnd.
uint32_t ModelChecksum(std::span<const float> model);

// The recording of one node, immutable once read. It takes as much memory as its bytes.
class RecordedNode {
 public:
  const RecordingHeader& header() const { return header_; }
  Rank rank() const { return header_.rank(); }
  int64_t events() const { return events_; }
  // The end of the recording; absent if the recording breaks off.
  const std::optional<RecordingEnd>& end() const { return end_; }
  const std::string& file() const { return file_; }
  // Returns a place in the file for errors: "run.rec: rank 2, offset 345".
  std::string At(int64_t offset) const;

 private:
  friend class RecordingReader;
  friend class EventCursor;
  struct Piece {
    size_t begin;    // offset in bytes_
    int64_t offset;  // offset in the file
  };

  std::string file_;
  RecordingHeader header_;
  std::optional<RecordingEnd> end_;
  int64_t events_ = 0;
  std::string bytes_;  // bytes of all events
  std::vector<Piece> pieces_;
};

// Goes through the events of a node. The node must outlive the cursor. Thread-compatible.
class EventCursor {
 public:
  explicit EventCursor(const RecordedNode* node) : node_(node) { Read(); }

  bool done() const { return !event_; }
  // The event, its index and its place; invalid once `done()` is true.
  const Event& event() const { return *event_; }
  int64_t index() const { return index_; }
  // Returns the place of the event: "run.rec: rank 2, offset 345, event 17".
  std::string Where() const;
  void Next();

 private:
  void Read();

  const RecordedNode* node_;
  size_t at_ = 0;    // offset of the event
  size_t next_ = 0;  // offset behind the event
  size_t piece_ = 0;
  int64_t index_ = 0;
  std::optional<Event> event_;
};

// Reads the recordings of all nodes of one run, and returns them by rank. Checks all checksums and
// events, and that each rank occurs once. Errors are kInput and name the file, the offset, the rank
// and what to do.
absl::StatusOr<std::vector<RecordedNode>> ReadRecordings(std::span<const std::string> files);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDING_H_
