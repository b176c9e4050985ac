// Encodes and decodes the messages of gossip.proto, with the data of chunks left in place, and
// computes the checksums that go with them.
//
// A chunk's header is written and read apart from its data, so that vectors are copied once,
// between the socket's buffers and their own memory. The bytes are plain protobuf: other clients
// may use generated code. The CRC-32C of an outgoing message is computed once however many
// neighbours get it, and just before the bytes go to the socket, while they are in cache.
//
// Thread-safe; functions are pure.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_WIRE_FORMAT_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_WIRE_FORMAT_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/message.h"
#include "kernels/passes/streamed_norm.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/message_memory.h"
#include "system/mutex.h"

namespace grapevine {

// Computes the checksum of one message, as far as it is asked for. Reads the message's memory, but
// does not keep it alive.
class MessageChecksum {
 public:
  explicit MessageChecksum(const SharedBytes& message) : data_(message.begin) {}

  // Reads on until at least the first `end` bytes are included. Returns the checksum of all bytes
  // read so far.
  uint32_t Through(int64_t end);

 private:
  const std::byte* data_;
  Mutex mutex_;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t crc32c_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns the CRC-32C of a message whose bytes have `crc32c`, extended by the note in little-endian
// order. A default note changes nothing.
uint32_t WithNote(uint32_t crc32c, const Note& note);

// Finds the checksum of bytes that are being sent to several neighbours. A checksum is valid while
// it is held; the bytes must not be written meanwhile.
class ChecksumsInFlight {
 public:
  std::shared_ptr<MessageChecksum> Of(const SharedBytes& message);

 private:
  using Key = std::tuple<const std::byte*, int64_t>;  // begin, size
  Mutex mutex_;
  std::map<Key, std::weak_ptr<MessageChecksum>> checksums_ ABSL_GUARDED_BY(mutex_);
};

struct Heartbeat {
  Round round = 0;
};
struct Goodbye {};
struct Grant {
  std::vector<Tag> tags;
  Credit credit = Credit::kAtOnce;
  uint64_t received = 0;  // number of messages received so far; 0 if unchanged
  // `declined` and `withdrawn` take effect before `tags`, which may name the tags anew.
  std::vector<Tag> declined = {};
  std::vector<Tag> withdrawn = {};
};

using ToReceiver = std::variant<EdgeIdentity, Heartbeat, ChunkHeader, Goodbye, Offer, Withdrawn>;
using ToSender = std::variant<EdgeIdentity, Heartbeat, Grant>;

// Returns the bytes of the message; for a chunk, all but its data, which must follow.
std::string Encode(const ToReceiver& message);
std::string Encode(const ToSender& message);

// The longest message, not counting the data of a chunk.
inline constexpr int64_t kMaxControlBytes = 64 << 10;

// Reads one message of `size` bytes; for a chunk, all but its data, which is then next in `in`.
// An error says what is wrong with the message, phrased to follow "rank 3 ".
absl::StatusOr<ToReceiver> DecodeToReceiver(google::protobuf::io::CodedInputStream* in,
                                            int64_t size);
absl::StatusOr<ToSender> DecodeToSender(google::protobuf::io::ZeroCopyInputStream* in,
                                        int64_t size);

// Copies the data of a decoded chunk out of `in` to into[0, chunk.size). `crc32c` is the CRC-32C of
// the message's bytes before the chunk. Returns the CRC-32C of the message up to the end of the
// chunk. `norm`, if not null, is fed the bytes while they are in cache.
absl::StatusOr<uint32_t> CopyChunkData(google::protobuf::io::CodedInputStream* in,
                                       const ChunkHeader& chunk, std::byte* into, uint32_t crc32c,
                                       StreamedNorm* norm = nullptr);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_WIRE_FORMAT_H_
