#include "run/recording/recording_format.h"

#include <glog/logging.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <limits>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/passes/crc32c.h"

namespace grapevine {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

enum class EventKind : uint8_t {
  kStart = 0,
  kReceived = 1,
  kOffered = 2,
  kLost = 3,
  kGradientReady = 4,
  kLeft = 5,
  kSent = 6,
  kDeclined = 7,  // Sent, not delivered
  kRoundLimit = 8,
};

void AppendFixed32(uint32_t value, std::string* bytes) {
  uint8_t buffer[sizeof(value)];
  CodedOutputStream::WriteLittleEndian32ToArray(value, buffer);
  bytes->append(reinterpret_cast<const char*>(buffer), sizeof(buffer));
}

uint32_t Fixed32At(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  CodedInputStream::ReadLittleEndian32FromArray(
      reinterpret_cast<const uint8_t*>(bytes.data()) + offset, &value);
  return value;
}

uint32_t ChecksumOf(std::string_view bytes) { return Crc32c(0, bytes.data(), bytes.size()); }

bool IsKind(char kind) {
  return kind == static_cast<char>(BlockKind::kHeader) ||
         kind == static_cast<char>(BlockKind::kEvents) ||
         kind == static_cast<char>(BlockKind::kEnd);
}

void AppendUnsigned(uint64_t value, std::string* bytes) {
  uint8_t buffer[10];
  const uint8_t* const end = CodedOutputStream::WriteVarint64ToArray(value, buffer);
  bytes->append(reinterpret_cast<const char*>(buffer), static_cast<size_t>(end - buffer));
}

void AppendSigned(int64_t value, std::string* bytes) {
  AppendUnsigned(WireFormatLite::ZigZagEncode64(value), bytes);
}

void AppendMessage(EventKind kind, Rank from, const Tag& tag, std::string* bytes) {
  bytes->push_back(static_cast<char>(kind));
  AppendUnsigned(static_cast<uint64_t>(from), bytes);
  AppendUnsigned(tag.channel, bytes);
  AppendSigned(tag.index, bytes);
  AppendUnsigned(tag.step, bytes);
}

void AppendSend(EventKind kind, SendId id, std::string* bytes) {
  bytes->push_back(static_cast<char>(kind));
  AppendUnsigned(id.id, bytes);
}

struct Appender {
  std::string* bytes;

  void operator()(const Start&) const { bytes->push_back(static_cast<char>(EventKind::kStart)); }
  void operator()(const Received& event) const {
    AppendMessage(EventKind::kReceived, event.from, event.tag, bytes);
  }
  void operator()(const Offered& event) const {
    AppendMessage(EventKind::kOffered, event.from, event.tag, bytes);
  }
  void operator()(const Lost& event) const {
    AppendMessage(EventKind::kLost, event.from, event.tag, bytes);
  }
  void operator()(const GradientReady& event) const {
    bytes->push_back(static_cast<char>(EventKind::kGradientReady));
    AppendSigned(event.round, bytes);
    AppendSigned(event.from, bytes);
  }
  void operator()(const Left& event) const { AppendSend(EventKind::kLeft, event.id, bytes); }
  void operator()(const Sent& event) const {
    AppendSend(event.delivered ? EventKind::kSent : EventKind::kDeclined, event.id, bytes);
  }
  void operator()(const RoundLimit& event) const {
    bytes->push_back(static_cast<char>(EventKind::kRoundLimit));
    AppendSigned(event.limit, bytes);
  }
  void operator()(const Prepare&) const { RefuseMembership(); }
  void operator()(const ViewChanged&) const { RefuseMembership(); }

  // RecordingAlgorithm lets none of them through.
  static void RefuseMembership() { LOG(FATAL) << "a change of members cannot be recorded"; }
};

// Reads members; what they lack or exceed is remembered.
class Members {
 public:
  explicit Members(CodedInputStream* in) : in_(in) {}

  uint64_t Unsigned(uint64_t most = std::numeric_limits<uint64_t>::max()) {
    uint64_t value = 0;
    if (!in_->ReadVarint64(&value)) whole_ = false;
    if (value > most) sensible_ = false;
    return value;
  }
  int64_t Signed() { return WireFormatLite::ZigZagDecode64(Unsigned()); }
  Rank Peer(Rank nodes) { return static_cast<Rank>(Unsigned(static_cast<uint64_t>(nodes) - 1)); }
  Tag Name() {
    Tag tag;
    tag.channel = static_cast<uint16_t>(Unsigned(std::numeric_limits<uint16_t>::max()));
    tag.index = Signed();
    tag.step = static_cast<uint32_t>(Unsigned(std::numeric_limits<uint32_t>::max()));
    return tag;
  }

  absl::Status status() const {
    if (!whole_) return absl::InvalidArgumentError("an event is cut off");
    if (!sensible_) return absl::InvalidArgumentError("a member of an event is too large");
    return absl::OkStatus();
  }

 private:
  CodedInputStream* const in_;
  bool whole_ = true;
  bool sensible_ = true;
};

// In a braced list members are read from left to right.
absl::StatusOr<Event> ReadEvent(uint64_t kind, Rank nodes, Members& members) {
  switch (static_cast<EventKind>(kind)) {
    case EventKind::kStart:
      return Start{};
    case EventKind::kReceived:
      return Received{.from = members.Peer(nodes), .tag = members.Name()};
    case EventKind::kOffered:
      return Offered{.from = members.Peer(nodes), .tag = members.Name()};
    case EventKind::kLost:
      return Lost{.from = members.Peer(nodes), .tag = members.Name()};
    case EventKind::kGradientReady:
      return GradientReady{.round = members.Signed(), .from = members.Signed()};
    case EventKind::kLeft:
      return Left{.id = {members.Unsigned()}};
    case EventKind::kSent:
      return Sent{.id = {members.Unsigned()}, .delivered = true};
    case EventKind::kDeclined:
      return Sent{.id = {members.Unsigned()}, .delivered = false};
    case EventKind::kRoundLimit:
      return RoundLimit{.limit = members.Signed()};
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no event of kind ", kind));
}

}  // namespace

void AppendBlock(const Block& block, std::string* bytes) {
  const size_t begin = bytes->size();
  bytes->push_back(static_cast<char>(block.kind));
  AppendFixed32(static_cast<uint32_t>(block.content.size()), bytes);
  AppendFixed32(ChecksumOf(std::string_view(*bytes).substr(begin)), bytes);
  bytes->append(block.content);
  AppendFixed32(ChecksumOf(block.content), bytes);
}

absl::StatusOr<std::optional<Block>> ParseBlock(std::string_view bytes) {
  constexpr size_t kSummed = kBlockHead - sizeof(uint32_t);
  if (bytes.size() < kBlockHead) return std::optional<Block>();
  if (!IsKind(bytes[0]) || Fixed32At(bytes, kSummed) != ChecksumOf(bytes.substr(0, kSummed))) {
    return absl::DataLossError("the head of a block is damaged");
  }
  const auto kind = static_cast<BlockKind>(bytes[0]);
  const size_t size = Fixed32At(bytes, 1);
  if (kind != BlockKind::kEvents && size > kMaxMessageBytes) {
    return absl::DataLossError(absl::StrCat("a block says that it is a message of ", size,
                                            " bytes, of ", kMaxMessageBytes, " at most"));
  }
  bytes.remove_prefix(kBlockHead);
  if (bytes.size() < size + kBlockTail) return std::optional<Block>();
  const std::string_view content = bytes.substr(0, size);
  if (Fixed32At(bytes, size) != ChecksumOf(content)) {
    return absl::DataLossError("the content of a block differs from its checksum");
  }
  return Block{kind, content};
}

void AppendEvent(const Event& event, std::string* bytes) { std::visit(Appender{bytes}, event); }

absl::StatusOr<Event> TakeEvent(Rank nodes, std::string_view* bytes) {
  // No event is longer.
  const std::string_view ahead = bytes->substr(0, 64);
  CodedInputStream in(reinterpret_cast<const uint8_t*>(ahead.data()),
                      static_cast<int>(ahead.size()));
  Members members(&in);
  const uint64_t kind = members.Unsigned(std::numeric_limits<uint8_t>::max());
  const absl::StatusOr<Event> event = ReadEvent(kind, nodes, members);
  RETURN_IF_ERROR(members.status());
  if (event.ok()) bytes->remove_prefix(static_cast<size_t>(in.CurrentPosition()));
  return event;
}

}  // namespace grapevine
