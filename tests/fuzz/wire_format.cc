// What neighbours send each other (node/transport/edge/wire_format.h): the first byte chooses the
// direction and the pieces in which the rest arrives.
#include "node/transport/edge/wire_format.h"

#include <glog/logging.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;

// What was understood means the same once it is sent again.
void CheckToReceiver(const uint8_t* data, int size, int slice) {
  ArrayInputStream stream(data, size, slice);
  CodedInputStream in(&stream);
  const auto message = DecodeToReceiver(&in, size);
  if (!message.ok()) {
    CHECK(!message.status().message().empty());
    return;
  }
  std::string again = Encode(*message);
  if (const auto* chunk = std::get_if<ChunkHeader>(&*message)) {
    CHECK_GE(chunk->offset, 0);
    CHECK(chunk->size >= 0 && chunk->size <= size);
    CHECK_LE(chunk->offset + chunk->size, chunk->total);
    std::vector<std::byte> bytes(static_cast<size_t>(chunk->size));
    CHECK(CopyChunkData(&in, *chunk, bytes.data(), 0).ok());
    again.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  ArrayInputStream repeated(again.data(), static_cast<int>(again.size()));
  CodedInputStream in_again(&repeated);
  const auto second = DecodeToReceiver(&in_again, static_cast<int64_t>(again.size()));
  CHECK(second.ok()) << second.status();
  CHECK_EQ(second->index(), message->index());
  CHECK(Encode(*second) == Encode(*message));
}

void CheckToSender(const uint8_t* data, int size, int slice) {
  ArrayInputStream stream(data, size, slice);
  const auto message = DecodeToSender(&stream, size);
  if (!message.ok()) {
    CHECK(!message.status().message().empty());
    return;
  }
  const std::string again = Encode(*message);
  ArrayInputStream repeated(again.data(), static_cast<int>(again.size()));
  const auto second = DecodeToSender(&repeated, static_cast<int64_t>(again.size()));
  CHECK(second.ok()) << second.status();
  CHECK(Encode(*second) == again);
}

FUZZ_TARGET(wire_format) {
  if (size == 0) return;
  const int slice = 1 + data[0] / 2;
  (data[0] % 2 == 0 ? CheckToReceiver : CheckToSender)(data + 1, static_cast<int>(size - 1), slice);
}

}  // namespace
}  // namespace grapevine
