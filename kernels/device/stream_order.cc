#include "kernels/device/stream_order.h"

#include <algorithm>
#include <utility>

namespace grapevine {

void StreamOrder::Before(DeviceStream& stream, std::span<const MemoryRange> reads,
                         std::span<const MemoryRange> writes) {
  const size_t waiting = IndexOf(stream);
  std::vector<const Use*> last(streams_.size(), nullptr);  // by stream: the last use to wait for
  const auto look_at = [&](const MemoryRange& range, bool written) {
    const auto uses = uses_.find(range.memory);
    if (uses == uses_.end() || range.empty()) return;
    for (const Use& use : uses->second) {
      const bool overlap = use.begin < range.end && range.begin < use.end;
      if (!overlap || !(written || use.writes) || Follows(waiting, use)) continue;
      const Use*& other = last[use.stream];
      if (other == nullptr || other->number < use.number) other = &use;
    }
  };
  for (const MemoryRange& range : reads) look_at(range, false);
  for (const MemoryRange& range : writes) look_at(range, true);
  for (const Use* use : last) {
    if (use == nullptr) continue;
    stream.WaitFor(*use->event);
    streams_[waiting].waited_for[use->stream] = use->number;
  }
}

std::shared_ptr<DeviceEvent> StreamOrder::After(DeviceStream& stream,
                                                std::span<const MemoryRange> reads,
                                                std::span<const MemoryRange> writes) {
  Use use{.stream = IndexOf(stream), .number = ++last_number_, .event = stream.Record()};
  const auto remember = [&](const MemoryRange& range, bool written) {
    if (range.empty()) return;
    use.begin = range.begin;
    use.end = range.end;
    use.writes = written;
    Remember(range.memory, use);
  };
  for (const MemoryRange& range : reads) remember(range, false);
  for (const MemoryRange& range : writes) remember(range, true);
  return std::move(use.event);
}

void StreamOrder::Remember(const void* memory, Use use) {
  Uses& uses = uses_[memory];
  std::erase_if(uses, [&](const Use& older) {
    const bool covered = use.begin <= older.begin && older.end <= use.end;
    // Readers do not wait for reads, so that a read can replace only reads of its own stream.
    return covered &&
           (use.writes ? Follows(use.stream, older) : older.stream == use.stream && !older.writes);
  });
  const auto of_stream = [&](const Use& older) { return older.stream == use.stream; };
  if (std::ranges::count_if(uses, of_stream) == kMaxUses) {
    const auto oldest = std::ranges::find_if(uses, of_stream);
    const auto next = std::find_if(oldest + 1, uses.end(), of_stream);
    next->begin = std::min(oldest->begin, next->begin);
    next->end = std::max(oldest->end, next->end);
    next->writes = oldest->writes || next->writes;
    uses.erase(oldest);
  }
  uses.push_back(std::move(use));
}

size_t StreamOrder::uses(const void* memory) const {
  const auto uses = uses_.find(memory);
  return uses == uses_.end() ? 0 : uses->second.size();
}

size_t StreamOrder::IndexOf(const DeviceStream& stream) {
  const auto known = std::ranges::find(streams_, &stream, &Stream::stream);
  if (known != streams_.end()) return static_cast<size_t>(known - streams_.begin());
  streams_.push_back({&stream, {}});
  for (Stream& each : streams_) each.waited_for.resize(streams_.size(), 0);
  return streams_.size() - 1;
}

}  // namespace grapevine
