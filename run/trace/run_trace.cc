#include "run/trace/run_trace.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// Lanes of a process, in the order in which they are shown.
constexpr int64_t kRounds = 0;
constexpr int64_t kGradients = 1;
constexpr int64_t kExchange = 2;
constexpr int64_t kSends = 1000;
constexpr int64_t kReceives = 1'000'000;

// The same number at both ends (FNV-1a over the message's name).
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

}  // namespace grapevine
