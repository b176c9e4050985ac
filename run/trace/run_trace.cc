#include "run/trace/run_trace.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/records/json_record.h"
#include "run/records/output_file.h"
#include "system/file.h"

namespace grapevine {

namespace {

// The lanes of a process, in the order in which viewers show them.
constexpr int64_t kRounds = 0;
constexpr int64_t kGradients = 1;
constexpr int64_t kExchange = 2;
constexpr int64_t kSends = 1000;
constexpr int64_t kReceives = 1'000'000;

// Returns the id of a message's arrow, equal at both ends (FNV-1a over the message's name).
uint64_t FlowId(const TraceMessage& message) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t word :
       {static_cast<uint64_t>(message.from), static_cast<uint64_t>(message.to),
        static_cast<uint64_t>(message.channel), static_cast<uint64_t>(message.round),
        static_cast<uint64_t>(message.step)}) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3u;
    }
  }
  return hash ^ hash >> 53;
}

}  // namespace

RunTrace::Node& RunTrace::NodeOf(Rank rank) {
  const auto [found, fresh] = nodes_.try_emplace(rank);
  if (fresh) {
    trace_->NameProcess(rank, absl::StrCat("rank ", rank));
    trace_->NameLane({rank, kRounds}, "rounds");
    trace_->NameLane({rank, kGradients}, "gradient");
    trace_->NameLane({rank, kExchange}, "exchange");
  }
  return found->second;
}

void RunTrace::Step(Rank rank, Round round, const TraceInterval& interval) {
  NodeOf(rank);
  trace_->Slice({rank, kRounds}, absl::StrCat("round ", round), interval.begin, interval.end);
}

void RunTrace::Gradient(Rank rank, Round round, const TraceInterval& interval) {
  NodeOf(rank);
  const ChromeTrace::Argument arguments[] = {{"round", round}};
  trace_->Slice({rank, kGradients}, "gradient", interval.begin, interval.end, arguments);
}

void RunTrace::Mix(Rank rank, const TraceInterval& interval) {
  NodeOf(rank);
  trace_->Slice({rank, kExchange}, "mix", interval.begin, interval.end);
}

void RunTrace::Wait(Rank rank, Rank peer, const TraceInterval& interval) {
  NodeOf(rank);
  const ChromeTrace::Argument arguments[] = {{"rank", peer}};
  trace_->Slice({rank, kExchange}, absl::StrCat("wait for ", peer), interval.begin, interval.end,
                arguments);
}

ChromeTrace::Lane RunTrace::FreeLane(Rank rank, bool send, const TraceInterval& interval) {
  Node& node = NodeOf(rank);
  Lanes& lanes = send ? node.sends : node.receives;
  size_t free = 0;
  while (free < lanes.size() && lanes[free] > interval.begin) ++free;
  const ChromeTrace::Lane lane{rank, (send ? kSends : kReceives) + static_cast<int64_t>(free)};
  if (free == lanes.size()) {
    lanes.push_back(0);
    const std::string name = send ? "send" : "receive";
    trace_->NameLane(lane, free == 0 ? name : absl::StrCat(name, " ", free + 1));
  }
  lanes[free] = interval.end;
  return lane;
}

void RunTrace::Sent(const TraceMessage& message, int64_t bytes, const TraceInterval& interval) {
  const ChromeTrace::Lane lane = FreeLane(message.from, true, interval);
  const ChromeTrace::Argument arguments[] = {
      {"round", message.round}, {"step", message.step}, {"bytes", bytes}};
  trace_->Slice(lane, absl::StrCat("to ", message.to), interval.begin, interval.end, arguments);
  trace_->FlowFrom(lane, interval.begin, FlowId(message));
}

void RunTrace::Received(const TraceMessage& message, const TraceInterval& interval) {
  const ChromeTrace::Lane lane = FreeLane(message.to, false, interval);
  const ChromeTrace::Argument arguments[] = {{"round", message.round}, {"step", message.step}};
  trace_->Slice(lane, absl::StrCat("from ", message.from), interval.begin, interval.end, arguments);
  trace_->FlowTo(lane, interval.begin, FlowId(message));
}

namespace {

constexpr char kFormat[] = "grapevine-node-trace-1";
// The longest header accepted: far more than a header needs.
constexpr size_t kMaxHeader = 4096;
constexpr int64_t kCentury = int64_t{3'155'760'000} * 1'000'000'000;
// The number after the header, which reveals the writer's byte order.
constexpr int64_t kByteOrder = 0x0102030405060708;

struct Header {
  std::string format;
  int64_t rank = 0;
  std::string clock;
  int64_t start = 0;
  int64_t dropped = 0;
  int64_t records = 0;
};

constexpr auto kHeaderMembers = [](auto& record, auto&& visit) {
  visit("format", record.format);
  visit("rank", record.rank);
  visit("clock", record.clock);
  visit("start", record.start);
  visit("dropped", record.dropped);
  visit("records", record.records);
};

absl::Status BadTrace(const std::string& path, std::string_view why) {
  return InputError(path, absl::StrCat("is not a trace of a node: ", std::string(why)));
}

bool Valid(const TraceRecord& record, Rank nodes) {
  return record.begin >= 0 && record.begin <= record.end && record.end <= kCentury &&
         record.round >= 0 && record.bytes >= 0 && record.peer >= 0 && record.peer < nodes &&
         record.channel <= std::numeric_limits<uint16_t>::max() &&
         record.kind <= TraceKind::kReceived;
}

// Reads the records of a trace from `bytes`, which follow the header.
absl::Status ReadRecords(std::span<const uint8_t> bytes, int64_t records, NodeTrace* trace) {
  const size_t size = sizeof(kByteOrder) + static_cast<size_t>(records) * sizeof(TraceRecord);
  if (bytes.size() != size) return absl::InvalidArgumentError("it is cut off");
  int64_t order = 0;
  std::memcpy(&order, bytes.data(), sizeof(order));
  if (order != kByteOrder) return absl::InvalidArgumentError("its byte order is another one");
  trace->records.resize(static_cast<size_t>(records));
  // memcpy would be undefined without records: their memory may be null.
  std::ranges::copy(bytes.subspan(sizeof(order)),
                    reinterpret_cast<uint8_t*>(trace->records.data()));
  return absl::OkStatus();
}

// The length of an arrival's slice in nanoseconds: the slice is visible, and its arrow hits it.
constexpr int64_t kArrival = 1000;

TraceMessage MessageOf(const TraceRecord& record, Rank from, Rank to) {
  return {.from = from,
          .to = to,
          .channel = static_cast<uint16_t>(record.channel),
          .round = record.round,
          .step = record.step};
}

void Add(Rank rank, const TraceRecord& record, const TraceInterval& interval, RunTrace* trace) {
  switch (record.kind) {
    case TraceKind::kStep:
      return trace->Step(rank, record.round, interval);
    case TraceKind::kGradient:
      return trace->Gradient(rank, record.round, interval);
    case TraceKind::kMix:
      return trace->Mix(rank, interval);
    case TraceKind::kWait:
      return trace->Wait(rank, record.peer, interval);
    case TraceKind::kSent:
      return trace->Sent(MessageOf(record, rank, record.peer), record.bytes, interval);
    case TraceKind::kReceived:
      return trace->Received(MessageOf(record, record.peer, rank),
                             {interval.end, interval.end + kArrival});
  }
}

// Returns when `node` started, on the clock of `reference` if the two nodes share it; otherwise the
// common start.
int64_t StartOn(const NodeTrace& reference, const NodeTrace& node) {
  const bool shared = !node.clock.empty() && node.clock == reference.clock;
  return shared ? node.start : reference.start;
}

// Merges the traces of nodes. The first node found is the reference; its clock is the run's.
class Merger {
 public:
  explicit Merger(std::span<const std::string> files) : files_(files) {}

  // Reads the starts of all nodes and makes the earliest one 0.
  absl::Status FindStart() {
    for (Rank rank = 0; rank < static_cast<Rank>(files_.size()); ++rank) {
      std::error_code error;
      if (!std::filesystem::exists(files_[rank], error)) {
        missing_.push_back(rank);
        continue;
      }
      ASSIGN_OR_RETURN(NodeTrace node, Read(rank));
      node.records = {};
      present_.push_back(rank);
      if (present_.size() == 1) reference_ = node;
      zero_ = std::min(zero_, StartOn(reference_, node));
    }
    return absl::OkStatus();
  }

  absl::Status AddAll(RunTrace* trace) {
    for (Rank rank : present_) {
      ASSIGN_OR_RETURN(const NodeTrace node, Read(rank));
      const int64_t shift = StartOn(reference_, node) - node.start - zero_;
      for (const TraceRecord& record : node.records) {
        // The little work before the start is drawn at the start.
        const TraceInterval interval{std::max<int64_t>(0, record.begin + shift),
                                     std::max<int64_t>(0, record.end + shift)};
        Add(rank, record, interval, trace);
      }
    }
    return absl::OkStatus();
  }

  const std::vector<Rank>& missing() const { return missing_; }

 private:
  absl::StatusOr<NodeTrace> Read(Rank rank) const {
    absl::StatusOr<NodeTrace> node = ReadNodeTrace(files_[rank], static_cast<Rank>(files_.size()));
    if (!node.ok() || node->rank == rank) return node;
    return InputError(files_[rank],
                      absl::StrCat("is the trace of rank ", node->rank, ", not ", rank));
  }

  const std::span<const std::string> files_;
  std::vector<Rank> present_;
  std::vector<Rank> missing_;
  NodeTrace reference_;
  int64_t zero_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::string NodeTracePath(const std::string& folder) { return absl::StrCat(folder, "/trace.bin"); }

absl::Status WriteNodeTrace(const std::string& path, const NodeTrace& trace) {
  const Header header{.format = kFormat,
                      .rank = trace.rank,
                      .clock = trace.clock,
                      .start = trace.start,
                      .dropped = trace.dropped,
                      .records = static_cast<int64_t>(trace.records.size())};
  std::string bytes = Dump(ToJson(header, kHeaderMembers)) + "\n";
  bytes.append(reinterpret_cast<const char*>(&kByteOrder), sizeof(kByteOrder));
  bytes.append(reinterpret_cast<const char*>(trace.records.data()),
               trace.records.size() * sizeof(TraceRecord));
  return WriteOutputFile(path, bytes);
}

absl::StatusOr<NodeTrace> ReadNodeTrace(const std::string& path, Rank nodes) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const std::span<const uint8_t> bytes = (*file)->bytes();
  const auto line = bytes.first(std::min(bytes.size(), kMaxHeader));
  const auto end = std::ranges::find(line, '\n');
  if (end == line.end()) return BadTrace(path, "it has no header");
  const absl::StatusOr<Header> header =
      FromJsonText<Header>(std::string_view(reinterpret_cast<const char*>(line.data()),
                                            static_cast<size_t>(end - line.begin())),
                           kHeaderMembers);
  if (!header.ok()) return BadTrace(path, "its header " + std::string(header.status().message()));
  const int64_t most = static_cast<int64_t>(bytes.size() / sizeof(TraceRecord));
  if (header->format != kFormat || header->rank < 0 || header->rank >= nodes ||
      header->records < 0 || header->records > most || header->start < 0 ||
      header->start > kCentury) {
    return BadTrace(path, "its header makes no sense");
  }
  NodeTrace trace{.rank = header->rank,
                  .clock = header->clock,
                  .start = header->start,
                  .dropped = header->dropped,
                  .records = {}};
  const absl::Status read = ReadRecords(bytes.subspan(static_cast<size_t>(end - line.begin()) + 1),
                                        header->records, &trace);
  if (!read.ok()) return BadTrace(path, std::string(read.message()));
  for (const TraceRecord& record : trace.records) {
    if (!Valid(record, nodes)) return BadTrace(path, "a record makes no sense");
  }
  return trace;
}

absl::StatusOr<std::vector<Rank>> MergeTraces(std::span<const std::string> files,
                                              ChromeTrace* trace) {
  Merger merger(files);
  RETURN_IF_ERROR(merger.FindStart());
  RunTrace run_trace(trace);
  RETURN_IF_ERROR(merger.AddAll(&run_trace));
  return merger.missing();
}

}  // namespace grapevine
