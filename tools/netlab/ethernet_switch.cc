#include "tools/netlab/ethernet_switch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace grapevine::netlab {
namespace {

// Frames read from one tap before the others have their turn.
constexpr int kBatch = 32;

}  // namespace

EthernetSwitch::EthernetSwitch(std::vector<UniqueDescriptor> taps, const PortOptions& options)
    : frames_(kMaxFrames) {
  for (UniqueDescriptor& tap : taps) {
    ports_.push_back({.tap = std::move(tap), .schedule = PortSchedule(options), .held = {}});
  }
  for (FrameId id = 0; id < kMaxFrames; ++id) free_.push_back(id);
}

void EthernetSwitch::Receive(int port, int64_t now) {
  std::array<uint8_t, kMaxFrameBytes + 1> buffer;  // one more: what is too long shows
  for (int i = 0; i < kBatch; ++i) {
    const ssize_t size = read(ports_[port].tap.get(), buffer.data(), buffer.size());
    if (size < 0) return;
    const std::span<const uint8_t> frame(buffer.data(), static_cast<size_t>(size));
    if (frame.size() < kHeaderBytes || frame.size() > kMaxFrameBytes) {
      ++counters_.refused_drops;
      continue;
    }
    addresses_.Learn(frame, port);
    Forward(frame, port, now);
  }
}

void EthernetSwitch::Forward(std::span<const uint8_t> frame, int from, int64_t now) {
  if (const std::optional<int> to = addresses_.Find(frame)) {
    if (*to != from) Hold(frame, *to, now);
    return;
  }
  for (int to = 0; to < ports(); ++to) {
    if (to != from) Hold(frame, to, now);
  }
}

void EthernetSwitch::Hold(std::span<const uint8_t> frame, int to, int64_t now) {
  if (free_.empty()) {
    ++counters_.memory_drops;
    return;
  }
  const std::optional<int64_t> due =
      ports_[to].schedule.Admit(static_cast<int64_t>(frame.size()), now);
  if (!due) {
    ++counters_.queue_drops;
    return;
  }
  const FrameId id = free_.back();
  free_.pop_back();
  frames_[id].due = *due;
  frames_[id].size = static_cast<uint32_t>(frame.size());
  std::ranges::copy(frame, frames_[id].bytes.begin());
  ports_[to].held.push_back(id);
}

void EthernetSwitch::Deliver(int64_t now) {
  for (Port& port : ports_) {
    while (!port.held.empty()) {
      const Frame& frame = frames_[port.held.front()];
      if (frame.due > now) break;
      if (write(port.tap.get(), frame.bytes.data(), frame.size) < 0) {
        ++counters_.refused_drops;  // the interface is down
      } else {
        ++counters_.frames;
        counters_.bytes += frame.size;
        counters_.lateness.Add(now - frame.due);
      }
      free_.push_back(port.held.front());
      port.held.pop_front();
    }
  }
}

}  // namespace grapevine::netlab
