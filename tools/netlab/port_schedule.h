// When frames reach a host of the lab: after the latency, one after the other at
// the rate of its port, from a queue with a bound.
//
// Pure arithmetic in integer nanoseconds. Thread-compatible.
#ifndef GRAPEVINE_TOOLS_NETLAB_PORT_SCHEDULE_H_
#define GRAPEVINE_TOOLS_NETLAB_PORT_SCHEDULE_H_

#include <cstdint>
#include <optional>

namespace grapevine::netlab {

struct PortOptions {
  // From when a frame was read from its sender's tap.
  int64_t latency_ns = 0;
  // Of frames as they lie on the tap: Ethernet headers count, preamble and gaps
  // do not. 0: without limit.
  int64_t bits_per_second = 0;
  // What may wait for the port, beyond what the latency holds back.
  int64_t queue_bytes = 1 << 20;
};

class PortSchedule {
 public:
  explicit PortSchedule(const PortOptions& options) : options_(options) {}

  // When a frame that was read at `now` has arrived with its last byte; nullopt
  // when the queue is full and the frame is lost. `now` never falls, so neither
  // do the results.
  std::optional<int64_t> Admit(int64_t bytes, int64_t now);

 private:
  int64_t Duration(int64_t bytes) const;

  const PortOptions options_;
  int64_t free_ = 0;  // the port is busy until then
};

}  // namespace grapevine::netlab

#endif  // GRAPEVINE_TOOLS_NETLAB_PORT_SCHEDULE_H_
