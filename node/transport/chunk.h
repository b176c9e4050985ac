// A chunk: a run of bytes of one message, as it travels between two transports.
//
// Plain values. Offsets and sizes are in bytes.
#ifndef GRAPEVINE_NODE_TRANSPORT_CHUNK_H_
#define GRAPEVINE_NODE_TRANSPORT_CHUNK_H_

#include <cstdint>
#include <optional>

#include "algorithm/message.h"

namespace grapevine {

struct ChunkHeader {
  Tag tag;
  int64_t offset = 0;  // of this chunk in its message
  int64_t size = 0;    // of this chunk
  int64_t total = 0;   // of the message
  // With its last chunk: CRC-32C of the whole message, and the note beside it.
  std::optional<uint32_t> crc32c;
  Note note = {};

  bool last() const { return offset + size == total; }
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_CHUNK_H_
