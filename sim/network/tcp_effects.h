// What TCP and a real network do to a message: jitter, loss, slow start.
//
// Simple on purpose; models the quantities that decide the time of a step:
//
//   jitter      an exponential delay on top of the latency, its mean given. A real
//               TCP stream keeps its order; here a message may overtake another.
//   loss        each packet of 1460 bytes is lost with the same probability and
//               sent again, which may be lost too: more bytes. The rate is at most
//               MSS / RTT * sqrt(1.5 / p) (Mathis, Semke, Mahdavi and Ott 1997).
//               Packets that are lost before the last window are repaired while
//               others flow; those of the last window cost a round trip for each
//               time that some of them are lost, or a retransmission time-out
//               (RTT + 200 ms, as Linux) when the very last packet is lost.
//   slow start  on a connection's first message, and when it was idle for longer
//               than the time-out, the window begins with 10 packets and doubles
//               each round trip until it fills the sender's rate.
//
// The round trip is twice the latency: queues do not lengthen it. A sender's rate is its
// interface's, even where flows share it; congestion between flows is left to the network model.
#ifndef GRAPEVINE_SIM_NETWORK_TCP_EFFECTS_H_
#define GRAPEVINE_SIM_NETWORK_TCP_EFFECTS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"

namespace grapevine {

struct TcpOptions {
  uint64_t seed = 1;
  Nanoseconds jitter = 0;  // mean of the jitter
  double loss = 0;         // probability that a packet is lost, at most kMaxLoss
  bool slow_start = false;
  double bandwidth = 0.125;  // bandwidth of an interface, bytes per nanosecond
};

// Immutable.
class TcpEffects final : public MessageEffects {
 public:
  static constexpr int64_t kSegment = 1460;      // MSS: payload bytes of a packet
  static constexpr int64_t kInitialWindow = 10;  // packets (RFC 6928)
  static constexpr Nanoseconds kLeastTimeout = 200'000'000;
  static constexpr double kMaxLoss = 0.5;

  explicit TcpEffects(const TcpOptions& options);

  MessageEffect Of(const Transfer& transfer) const override;

  // Returns what slow start adds to the time of `bytes` at `rate` bytes per nanosecond.
  static Nanoseconds SlowStartDelay(int64_t bytes, double rate, Nanoseconds round_trip);
  // Returns the largest rate under loss in bytes per nanosecond; infinite without loss or latency.
  static double MathisRate(double loss, Nanoseconds round_trip);

 private:
  // Packets sent again, and the time that this adds after the last byte.
  struct Repair {
    int64_t packets = 0;
    Nanoseconds delay = 0;
  };
  Repair Retransmissions(class KeyedRandom& random, int64_t packets, double rate,
                         Nanoseconds round_trip) const;

  const TcpOptions options_;
};

// Makes the effects of --jitter, --loss and --slow-start, over interfaces of `bandwidth` bytes per
// nanosecond. Returns null when links only carry bytes. A loss above kMaxLoss is a kUsage error.
absl::StatusOr<std::unique_ptr<const MessageEffects>> MakeMessageEffects(const Config& config,
                                                                         double bandwidth);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_TCP_EFFECTS_H_
