// The bytes of a recording: blocks with checksums, and events inside them.
//
// A node's stream is the line kMagic and blocks: one header, any number with events, one end. A
// block is its kind (a letter), the length of its content (4 bytes) and the CRC-32C of these 5
// bytes (4), the content, and the CRC-32C of that (4); numbers are little-endian. So a stream that
// breaks off, in a block or between two, is told from one that was damaged. An event is a byte for
// its kind and varints for its members (protobuf's encoding, signed ones zigzag).
//
// Pure functions, safe from any thread and on hostile input.
#ifndef GRAPEVINE_RUN_RECORDING_RECORDING_FORMAT_H_
#define GRAPEVINE_RUN_RECORDING_RECORDING_FORMAT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "base/ids.h"

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

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDING_RECORDING_FORMAT_H_
