#include "run/recording/recording.h"

#include <glog/logging.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "kernels/passes/crc32c.h"
#include "system/file.h"

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
  kDeclined = 7,  // Sent that is not delivered
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

  // RecordingAlgorithm lets no change of members through.
  static void RefuseMembership() { LOG(FATAL) << "a change of members cannot be recorded"; }
};

// Reads the members of an event and remembers whether one is cut off or too large.
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

// A braced list reads members from left to right.
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
  // No event is longer than 64 bytes.
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

namespace {

// More nodes than any run has.
constexpr int32_t kMaxNodes = 1 << 20;
// The number of ranks that an error lists.
constexpr size_t kListed = 8;

constexpr char kAnotherCopy[] = "take another copy, or record the run again";

}  // namespace

uint32_t ModelChecksum(std::span<const float> model) {
  return Crc32c(0, model.data(), model.size_bytes());
}

std::string RecordedNode::At(int64_t offset) const {
  return absl::StrCat(file_, ": rank ", rank(), ", offset ", offset);
}

void EventCursor::Next() {
  at_ = next_;
  ++index_;
  Read();
}

void EventCursor::Read() {
  event_.reset();
  if (at_ == node_->bytes_.size()) return;
  while (piece_ + 1 < node_->pieces_.size() && node_->pieces_[piece_ + 1].begin <= at_) ++piece_;
  std::string_view ahead = std::string_view(node_->bytes_).substr(at_);
  absl::StatusOr<Event> event = TakeEvent(node_->header_.nodes(), &ahead);
  CHECK(event.ok()) << event.status();  // ReadRecordings has checked it
  event_ = *std::move(event);
  next_ = node_->bytes_.size() - ahead.size();
}

std::string EventCursor::Where() const {
  const RecordedNode::Piece& piece = node_->pieces_[piece_];
  return absl::StrCat(node_->At(piece.offset + static_cast<int64_t>(at_ - piece.begin)), ", event ",
                      index_);
}

// Reads the streams of one file.
class RecordingReader {
 public:
  RecordingReader(const std::string& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  bool done() const { return at_ == bytes_.size(); }

  absl::StatusOr<RecordedNode> Read() {
    RecordedNode node;
    node.file_ = file_;
    RETURN_IF_ERROR(ReadMagic());
    RETURN_IF_ERROR(ReadHeader(&node));
    while (!node.end_) {
      const bool another = bytes_.substr(at_).starts_with(kMagicOfAll);
      if (another || done()) break;
      absl::StatusOr<std::optional<Block>> block = ParseBlock(bytes_.substr(at_));
      if (!block.ok()) return Error(node, Advice(block.status()));
      if (!*block) {  // the recording breaks off within a block
        at_ = std::min(bytes_.find(kMagicOfAll, at_), bytes_.size());
        break;
      }
      RETURN_IF_ERROR(Add(**block, &node));
      at_ += kBlockHead + (*block)->content.size() + kBlockTail;
    }
    return node;
  }

 private:
  static std::string Advice(const absl::Status& damage) {
    return absl::StrCat(std::string(damage.message()), "; ", kAnotherCopy,
                        " (give the file of a node that died by itself: what it wrote last may be "
                        "cut off)");
  }
  absl::Status Error(std::string_view what) const {
    return InputError(file_, absl::StrCat("offset ", at_, ": ", std::string(what)));
  }
  absl::Status Error(const RecordedNode& node, std::string_view what) const {
    return InputError(absl::StrCat(node.At(static_cast<int64_t>(at_)), ": ", std::string(what)));
  }

  absl::Status ReadMagic() {
    const std::string_view ahead = bytes_.substr(at_);
    if (ahead.starts_with(kMagic)) {
      at_ += kMagic.size();
      return absl::OkStatus();
    }
    if (!ahead.starts_with(kMagicOfAll)) {
      return Error("no recording begins here; `grapevine train --record=FILE` writes one");
    }
    return Error(
        "a recording in a format that this program does not read; replay it with the "
        "version that wrote it");
  }

  absl::Status ReadHeader(RecordedNode* node) {
    const absl::StatusOr<std::optional<Block>> block = ParseBlock(bytes_.substr(at_));
    if (!block.ok()) return Error(Advice(block.status()));
    if (!*block) {
      return Error(absl::StrCat("the recording breaks off in its header; ", kAnotherCopy));
    }
    const std::string_view content = (*block)->content;
    RecordingHeader& header = node->header_;
    if ((*block)->kind != BlockKind::kHeader ||
        !header.ParseFromArray(content.data(), static_cast<int>(content.size())) ||
        header.nodes() < 1 || header.nodes() > kMaxNodes || header.rank() < 0 ||
        header.rank() >= header.nodes()) {
      return Error(absl::StrCat("the header of a recording makes no sense; ", kAnotherCopy));
    }
    at_ += kBlockHead + content.size() + kBlockTail;
    return absl::OkStatus();
  }

  absl::Status Add(const Block& block, RecordedNode* node) {
    switch (block.kind) {
      case BlockKind::kEvents:
        return AddEvents(block.content, node);
      case BlockKind::kEnd:
        return AddEnd(block.content, node);
      case BlockKind::kHeader:
        break;
    }
    return Error(*node, "a second header");
  }

  absl::Status AddEvents(std::string_view content, RecordedNode* node) {
    node->pieces_.push_back({node->bytes_.size(), static_cast<int64_t>(at_ + kBlockHead)});
    for (std::string_view ahead = content; !ahead.empty(); ++node->events_) {
      const absl::StatusOr<Event> event = TakeEvent(node->header_.nodes(), &ahead);
      if (event.ok()) continue;
      return Error(*node, absl::StrCat("event ", node->events_, ": ",
                                       std::string(event.status().message()), "; ", kAnotherCopy));
    }
    node->bytes_.append(content);
    return absl::OkStatus();
  }

  absl::Status AddEnd(std::string_view content, RecordedNode* node) {
    RecordingEnd end;
    if (!end.ParseFromArray(content.data(), static_cast<int>(content.size())) ||
        end.elements() < 0) {
      return Error(*node, "the end of the recording makes no sense");
    }
    if (end.events() != node->events_) {
      return Error(*node, absl::StrCat("the recording has ", node->events_, " events, and says ",
                                       end.events(), ": a part is missing; ", kAnotherCopy));
    }
    node->end_ = end;
    return absl::OkStatus();
  }

  const std::string& file_;
  const std::string_view bytes_;
  size_t at_ = 0;
};

namespace {

using Nodes = std::map<Rank, RecordedNode>;

absl::Status ReadFile(const std::string& path, Nodes* nodes) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  RecordingReader reader(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (reader.done()) return InputError(path, "is empty, and so no recording");
  while (!reader.done()) {
    ASSIGN_OR_RETURN(RecordedNode node, reader.Read());
    const std::string where = node.At(0);
    const auto [there, fresh] = nodes->try_emplace(node.rank(), std::move(node));
    if (fresh) continue;
    return InputError(absl::StrCat(where, ": the recording of this rank is also in ",
                                   there->second.At(0), "; give each rank once"));
  }
  return absl::OkStatus();
}

// Returns the setting in which the headers of two nodes differ, among those that the nodes compared
// when they joined. The rest of a configuration is each machine's own.
std::string Difference(const RecordingHeader& a, const RecordingHeader& b) {
  if (a.nodes() != b.nodes()) return absl::StrCat("nodes: ", a.nodes(), " and ", b.nodes());
  for (int i = 0; i < a.settings_size() && i < b.settings_size(); ++i) {
    const RecordedSetting &left = a.settings(i), &right = b.settings(i);
    if (left.SerializeAsString() == right.SerializeAsString()) continue;
    return absl::StrCat(left.name(), ": ", left.value(), " and ", right.value());
  }
  return a.settings_size() == b.settings_size() ? "" : "settings";
}

absl::Status CheckOneRun(const Nodes& nodes) {
  const RecordedNode& first = nodes.begin()->second;
  for (const auto& [rank, node] : nodes) {
    const std::string difference = Difference(first.header(), node.header());
    if (difference.empty()) continue;
    return InputError(absl::StrCat(node.At(0), ": of another run than ", first.At(0), " (",
                                   difference, "); give the recordings of one run"));
  }
  const Rank size = first.header().nodes();
  std::vector<Rank> missing;
  for (Rank rank = 0; rank < size && missing.size() < kListed; ++rank) {
    if (!nodes.contains(rank)) missing.push_back(rank);
  }
  if (missing.empty()) return absl::OkStatus();
  const size_t all = static_cast<size_t>(size) - nodes.size();
  return InputError(absl::StrCat(
      "of ", size, " nodes these have no recording here: rank ", absl::StrJoin(missing, ", "),
      all > missing.size() ? absl::StrCat(" and ", all - missing.size(), " more") : "",
      "; give their files, too (RUN/node-RANK/events.rec on their machines)"));
}

}  // namespace

absl::StatusOr<std::vector<RecordedNode>> ReadRecordings(std::span<const std::string> files) {
  if (files.empty()) return UsageError("no recording is given");
  Nodes nodes;
  for (const std::string& file : files) RETURN_IF_ERROR(ReadFile(file, &nodes));
  RETURN_IF_ERROR(CheckOneRun(nodes));
  std::vector<RecordedNode> by_rank;
  for (auto& [rank, node] : nodes) by_rank.push_back(std::move(node));
  return by_rank;
}

}  // namespace grapevine
