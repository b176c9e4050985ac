#include "tools/netlab/ethernet_switch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace grapevine::netlab {
namespace {

constexpr size_t kAddressBytes = 6;

uint64_t AddressAt(std::span<const uint8_t> frame, size_t offset) {
  uint64_t address = 0;
  for (const uint8_t byte : frame.subspan(offset, kAddressBytes)) address = address << 8 | byte;
  return address;
}

bool IsGroup(std::span<const uint8_t> frame) { return (frame[0] & 1) != 0; }

// Frames read from one tap before it is the others' turn.
constexpr int kBatch = 32;

}  // namespace

int64_t PortSchedule::Duration(int64_t bytes) const {
  if (options_.bits_per_second == 0) return 0;
  return bytes * 8 * 1'000'000'000 / options_.bits_per_second;
}

std::optional<int64_t> PortSchedule::Admit(int64_t bytes, int64_t now) {
  const int64_t reached = now + options_.latency_ns;
  const int64_t begin = std::max(reached, free_);
  if (begin - reached > Duration(options_.queue_bytes)) return std::nullopt;
  free_ = begin + Duration(bytes);
  return free_;
}

void AddressTable::Learn(std::span<const uint8_t> frame, int port) {
  const uint64_t source = AddressAt(frame, kAddressBytes);
  if (ports_.size() >= kMaxAddresses && !ports_.contains(source)) return;
  ports_[source] = port;
}

std::optional<int> AddressTable::Find(std::span<const uint8_t> frame) const {
  if (IsGroup(frame)) return std::nullopt;
  const auto found = ports_.find(AddressAt(frame, 0));
  if (found == ports_.end()) return std::nullopt;
  return found->second;
}

void Lateness::Add(int64_t nanoseconds) {
  const auto bucket = static_cast<size_t>(std::max<int64_t>(nanoseconds, 0) / kBucketNs);
  ++buckets_[std::min(bucket, kBuckets - 1)];
  ++count_;
}

int64_t Lateness::Quantile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = share * static_cast<double>(count_);
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (static_cast<double>(seen) >= wanted) return static_cast<int64_t>(bucket + 1) * kBucketNs;
  }
  return static_cast<int64_t>(kBuckets) * kBucketNs;
}

EthernetSwitch::EthernetSwitch(std::vector<UniqueDescriptor> taps, const PortOptions& options)
    : frames_(kMaxFrames) {
  for (UniqueDescriptor& tap : taps) {
    ports_.push_back({.tap = std::move(tap), .schedule = PortSchedule(options), .held = {}});
  }
  for (FrameId id = 0; id < kMaxFrames; ++id) free_.push_back(id);
}

void EthernetSwitch::Receive(int port, int64_t now) {
  std::array<uint8_t, kMaxFrameBytes + 1> buffer;  // one more: shows excess length
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
