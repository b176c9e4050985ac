// The lab's network: a learning switch between taps, whose ports have a latency, a rate and a
// queue.
//
// Single-threaded: call Receive when a tap may be readable, Deliver when a frame may be due.
#ifndef GRAPEVINE_TOOLS_NETLAB_ETHERNET_SWITCH_H_
#define GRAPEVINE_TOOLS_NETLAB_ETHERNET_SWITCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "system/file_descriptor.h"

namespace grapevine::netlab {

struct PortOptions {
  // Counted from when a frame was read from its sender's tap.
  int64_t latency_ns = 0;
  // Counts frames as they are on the tap: with Ethernet headers, without preamble and gaps. 0:
  // unlimited.
  int64_t bits_per_second = 0;
  // How much may wait for the port, beyond what the latency holds back.
  int64_t queue_bytes = 1 << 20;
};

// When frames reach a host of the lab: after the latency, one after the other at the rate of its
// port, through a bounded queue. Pure arithmetic in integer nanoseconds. Thread-compatible.
class PortSchedule {
 public:
  explicit PortSchedule(const PortOptions& options) : options_(options) {}

  // When the last byte of a frame that was read at `now` arrives; nullopt if the queue is full
  // and the frame is lost. `now` never decreases, so neither do the results.
  std::optional<int64_t> Admit(int64_t bytes, int64_t now);

 private:
  int64_t Duration(int64_t bytes) const;

  const PortOptions options_;
  int64_t free_ = 0;  // the port is busy until then
};

// An Ethernet header: destination, source, type.
inline constexpr size_t kHeaderBytes = 14;

// Which port of the switch an Ethernet address was last seen at. Thread-compatible.
class AddressTable {
 public:
  // More addresses than this are not learnt: their frames go to every port.
  static constexpr size_t kMaxAddresses = 1024;

  // Records that a frame of at least kHeaderBytes came from `port`.
  void Learn(std::span<const uint8_t> frame, int port);
  // The port for a frame; nullopt: every port but its own (a group address, or one not seen yet).
  std::optional<int> Find(std::span<const uint8_t> frame) const;

 private:
  std::map<uint64_t, int> ports_;
};

// How much later than planned frames were forwarded. Thread-compatible.
class Lateness {
 public:
  void Add(int64_t nanoseconds);
  // The smallest lateness that a fraction `share` of the frames did not exceed, rounded up to
  // kBucketNs; 0 without frames. The last bucket holds everything later.
  int64_t Quantile(double share) const;
  int64_t count() const { return count_; }
  void Clear() { *this = Lateness(); }

 private:
  static constexpr int64_t kBucketNs = 5'000;
  static constexpr size_t kBuckets = 4'000;

  std::array<int64_t, kBuckets> buckets_{};
  int64_t count_ = 0;
};

// Since the last ResetCounters.
struct SwitchCounters {
  int64_t frames = 0;  // handed to a tap
  int64_t bytes = 0;
  int64_t queue_drops = 0;    // the port's queue was full
  int64_t memory_drops = 0;   // more than kMaxFrames were held
  int64_t refused_drops = 0;  // too long or too short, or refused by the tap
  Lateness lateness;
};

class EthernetSwitch {
 public:
  // Frames held at once, over all ports.
  static constexpr size_t kMaxFrames = 32'768;
  // The longest frame: an MTU of 1500 with its header and a VLAN tag.
  static constexpr size_t kMaxFrameBytes = 1518;

  // Takes ownership of the taps, one per port.
  EthernetSwitch(std::vector<UniqueDescriptor> taps, const PortOptions& options);

  int ports() const { return static_cast<int>(ports_.size()); }
  int descriptor(int port) const { return ports_[port].tap.get(); }

  // Reads up to a batch of frames from a port's tap. `now` is in nanoseconds and never decreases.
  void Receive(int port, int64_t now);
  // Forwards the frames that are due.
  void Deliver(int64_t now);
  // Whether frames are held.
  bool busy() const { return free_.size() < kMaxFrames; }

  const SwitchCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }

 private:
  using FrameId = uint32_t;
  struct Frame {
    int64_t due;
    uint32_t size;
    std::array<uint8_t, kMaxFrameBytes> bytes;
  };
  struct Port {
    UniqueDescriptor tap;
    PortSchedule schedule;
    std::deque<FrameId> held;  // by time
  };

  void Forward(std::span<const uint8_t> frame, int from, int64_t now);
  void Hold(std::span<const uint8_t> frame, int to, int64_t now);

  std::vector<Port> ports_;
  AddressTable addresses_;
  std::vector<Frame> frames_;
  std::vector<FrameId> free_;
  SwitchCounters counters_;
};

}  // namespace grapevine::netlab

#endif  // GRAPEVINE_TOOLS_NETLAB_ETHERNET_SWITCH_H_
