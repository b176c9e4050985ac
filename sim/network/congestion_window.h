// How many segments a TCP connection may have in flight: its congestion window, as Linux keeps it.
//
// Slow start and congestion avoidance are those of RFC 5681. The window grows only while it is what
// limits the sender (RFC 7661). It falls back towards its initial size after a pause of more than a
// retransmission time-out, and when less of it has been used for that long, it halves the way to
// what is used (RFC 2861). By default CUBIC (RFC 9438) lets it grow, and HyStart (Ha and Rhee 2011;
// RFC 9406 is its successor) ends slow start as soon as round trips get longer or acknowledgements
// come in a train of half a round trip. The arithmetic is in integers, as in net/ipv4/tcp_cubic.c.
#ifndef GRAPEVINE_SIM_NETWORK_CONGESTION_WINDOW_H_
#define GRAPEVINE_SIM_NETWORK_CONGESTION_WINDOW_H_

#include <cstdint>
#include <limits>

#include "sim/nanoseconds.h"

namespace grapevine {

enum class CongestionControl { kCubic, kReno };

// Decides by the acknowledgements of a round trip whether slow start is to end before anything is
// lost. Thread-compatible.
class HyStart {
 public:
  // Begins a round, which ends when `end` segments have been acknowledged.
  void BeginRound(int64_t end, Nanoseconds now);
  // Returns whether slow start ends with a window of `window` segments. `acked` and `sent` count
  // the segments of the connection so far.
  bool OnAck(int64_t acked, int64_t sent, int64_t window, Nanoseconds round_trip,
             Nanoseconds shortest, double rate, Nanoseconds now);

 private:
  bool found_ = false;
  int64_t end_ = 0;
  Nanoseconds begun_ = 0;
  Nanoseconds last_ = 0;  // the last of a train of acknowledgements
  Nanoseconds least_ = std::numeric_limits<Nanoseconds>::max();
  int samples_ = 0;
};

// How fast the window grows beyond slow start. Thread-compatible.
class Cubic {
 public:
  // Returns after how many acknowledged segments the window grows by one.
  int64_t SegmentsPerGrowth(int64_t window, int64_t acked, Nanoseconds shortest, Nanoseconds now);
  // Leaves out a pause, as the window could not have grown in it.
  void Skip(Nanoseconds pause);
  // Returns the new threshold of slow start after a loss.
  int64_t OnLoss(int64_t window);

 private:
  void Begin(int64_t window, int64_t acked, Nanoseconds now);
  int64_t Target(Nanoseconds shortest, Nanoseconds now) const;

  int64_t largest_ = 0;  // window before the last loss; 0: none
  bool begun_ = false;
  Nanoseconds epoch_ = 0;
  int64_t origin_ = 0;
  int64_t k_ = 0;  // time from the epoch to the origin, in 1/1024 s
  int64_t growth_ = 1;
  int64_t acked_ = 0;  // segments acknowledged since Reno's window grew
  int64_t reno_ = 0;   // the window that Reno would have
};

// Thread-compatible.
class CongestionWindow {
 public:
  static constexpr int64_t kInitial = 10;  // RFC 6928
  static constexpr Nanoseconds kLeastTimeout = 200'000'000;

  explicit CongestionWindow(CongestionControl control) : control_(control) {}

  int64_t segments() const { return window_; }
  // Returns how many segments the host hands its interface at once: about a millisecond's worth
  // (TCP segmentation offload).
  int64_t burst() const;
  // Returns how many segments may wait in the interface's queue (TCP small queues): two bursts, or
  // a millisecond's worth if that is more.
  int64_t queued() const;

  // Returns how many bytes that are in flight or wait to be sent the host has memory for. The send
  // buffer grows with the window (tcp_sndbuf_expand and net.ipv4.tcp_wmem of Linux).
  int64_t send_buffer() const;

  // Returns the time after which a sender without acknowledgements would send again.
  Nanoseconds timeout() const { return smoothed_ + kLeastTimeout; }

  // Called when something is to be sent and nothing is in flight.
  void Resume(Nanoseconds now);
  // Called when `segments` more were sent, so that `in_flight` are in flight now.
  void OnSent(int64_t segments, int64_t in_flight, Nanoseconds now);
  // Called when `segments` more are acknowledged, the last of which was sent `round_trip` ago.
  void OnAck(int64_t segments, Nanoseconds round_trip, Nanoseconds now);
  // Called when a segment is missing. The window shrinks once for all segments that were in flight
  // together.
  void OnLoss();

 private:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

  bool in_slow_start() const { return window_ < threshold_; }
  bool limits() const;
  // Returns the rate at which Linux would pace segments, in segments per nanosecond.
  double rate() const;
  int64_t ThresholdNow() const;
  void ShrinkToUse(Nanoseconds now);
  void Grow(int64_t segments, Nanoseconds now);

  const CongestionControl control_;
  int64_t window_ = kInitial;
  int64_t threshold_ = kUnlimited;
  int64_t credit_ = 0;  // acknowledged segments that count for the next growth
  Nanoseconds smoothed_ = 0;
  Nanoseconds shortest_ = std::numeric_limits<Nanoseconds>::max();
  int64_t sent_ = 0;
  int64_t acked_ = 0;
  int64_t recovered_ = 0;  // losses of segments before this one have been answered
  Nanoseconds last_sent_ = 0;

  // The strongest signal of how far the last window was used.
  bool limited_ = false;
  int64_t most_in_flight_ = 0;
  int64_t use_ends_ = 0;
  // The most segments in flight while the window does not limit the sender, and since when.
  int64_t used_ = 0;
  Nanoseconds used_since_ = 0;

  HyStart hystart_;
  Cubic cubic_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_CONGESTION_WINDOW_H_
