// The lab's network: a learning switch whose ports have a latency, a rate and a
// queue, between taps.
//
// One thread: Receive when a tap may be readable, Deliver when something may be due.
#ifndef GRAPEVINE_TOOLS_NETLAB_ETHERNET_SWITCH_H_
#define GRAPEVINE_TOOLS_NETLAB_ETHERNET_SWITCH_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "system/unique_descriptor.h"
#include "tools/netlab/address_table.h"
#include "tools/netlab/lateness.h"
#include "tools/netlab/port_schedule.h"

namespace grapevine::netlab {

// Since the last ResetCounters.
struct SwitchCounters {
  int64_t frames = 0;  // handed to a tap
  int64_t bytes = 0;
  int64_t queue_drops = 0;    // the port's queue was full
  int64_t memory_drops = 0;   // more than kMaxFrames were held
  int64_t refused_drops = 0;  // too long or too short, or the tap did not take it
  Lateness lateness;
};

class EthernetSwitch {
 public:
  // Frames held at once, over all ports.
  static constexpr size_t kMaxFrames = 32'768;
  // The longest frame: an MTU of 1500 with its header and a VLAN tag.
  static constexpr size_t kMaxFrameBytes = 1518;

  // Takes the taps, one a port.
  EthernetSwitch(std::vector<UniqueDescriptor> taps, const PortOptions& options);

  int ports() const { return static_cast<int>(ports_.size()); }
  int descriptor(int port) const { return ports_[port].tap.get(); }

  // Takes up to a batch of frames from a port's tap. `now` is in nanoseconds and
  // never falls.
  void Receive(int port, int64_t now);
  // Hands on what is due.
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
