// The network in packets: messages travel as TCP segments through queues.
//
// Every ordered pair of ranks has one connection, which lasts for the whole simulation with its
// congestion window (congestion_window.h); its messages go one after another, in segments of 1448
// bytes of payload in frames of 1514. A host's interface sends one frame at a time, first come,
// first served. The switch passes a frame on as it comes in, behind the latency and behind what
// waits for the receiver's port, again first come, first served. A receiver acknowledges every
// second segment and the end of a message (and the first 16, of a connection and after a pause of a
// time-out, one by one), in a frame of 66 bytes that waits in its own interface's
// queue like any other. A connection keeps no more than about two milliseconds' worth of segments
// in its host's queue (TCP small queues), so that several of a host take turns.
//
// A message has left, for its sender, once the host has all of it in the connection's buffer, as
// over gRPC (algorithm/event.h). The buffer grows with the congestion window, so that most messages
// leave at once, and the next one of the node shares the interface with them.
//
// What a receiver says to a sender (credits, receipts) is a small frame in the same queues, and the
// sender's connection answers it with a small segment, as gRPC does (a window update of HTTP/2).
//
// A frame with data that finds more than `port_queue` bytes before it at a port is lost. Its sender
// notices when it would have been acknowledged, shrinks its window and sends the segment again.
// Acknowledgements are not lost, and no time-out runs.
//
// One message on an idle link that its window fills takes latency + bytes / bandwidth, as in the
// other models: bandwidth is what frames leave of the link for payload.
#ifndef GRAPEVINE_SIM_NETWORK_PACKET_NETWORK_H_
#define GRAPEVINE_SIM_NETWORK_PACKET_NETWORK_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/network/congestion_window.h"
#include "sim/network/network_model.h"

namespace grapevine {

struct PacketOptions {
  // Rate of payload in full frames, in each direction of each interface; bytes per nanosecond.
  double bandwidth = 0.125;
  Nanoseconds latency = 0;
  CongestionControl control = CongestionControl::kCubic;
  // The bytes that may wait for a receiver's port.
  int64_t port_queue = 1 << 20;
};

// Thread-compatible.
class PacketNetwork final : public NetworkModel {
 public:
  static constexpr int64_t kSegment = 1448;  // bytes of payload
  static constexpr int64_t kHeaders = 66;    // Ethernet, IP, TCP with timestamps

  PacketNetwork(Rank nodes, const PacketOptions& options, AlarmClock* clock);

  void Start(FlowId id, const Flow& flow, Nanoseconds now) override;
  bool OnAlarm(FlowId id, uint32_t version, Nanoseconds now) override;
  void Settle(Nanoseconds) override {}
  double Left(FlowId id, Nanoseconds) const override {
    return static_cast<double>(messages_[id].missing);
  }
  // Returns the rate as if all messages of an interface shared it equally.
  double rate(FlowId id) const override;
  Nanoseconds Latency(Rank from, Rank to) const override { return from == to ? 0 : latency_; }
  Nanoseconds Delay(Rank from, Rank to, Nanoseconds now) const override;
  Nanoseconds Reply(Rank sender, Rank receiver, Nanoseconds now) override;
  Nanoseconds Arrival(FlowId id, Rank, Rank, Nanoseconds) const override {
    return messages_[id].arrival;
  }

  // Return how many frames were sent, and how many of them were lost.
  int64_t frames() const { return sent_frames_; }
  int64_t lost() const { return lost_; }
  // Returns the congestion window of a connection that has been used, in segments.
  int64_t window(Rank from, Rank to) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr FlowId kAnswer = ~FlowId{0};
  static constexpr FlowId kNoFlow = ~FlowId{0};
  static constexpr int kQuick = 16;
  // What an alarm's version says. The alarm's number is that of the host, frame or flow.
  enum Alarm : uint32_t {
    kSent,          // host: its interface has sent a frame
    kSegmentThere,  // frame: its segment has reached the receiver, which acknowledges
    kAckThere,      // frame: the acknowledgement has reached the sender
    kReplyThere,    // frame: the reply has reached the sender
    kLoss,          // frame: the sender notices that it was lost
    kLeft,          // flow: it has left
  };

  struct Segment {
    FlowId message = 0;
    int64_t bytes = 0;  // payload
  };
  struct Frame {
    uint32_t next = kNone;  // next frame in the queue of its interface
    uint32_t connection = 0;
    Alarm arrival = kSegmentThere;  // the alarm at its arrival, which tells its kind
    Segment segment;
    uint32_t acknowledges = 0;  // number of segments that it acknowledges
    Nanoseconds since = 0;      // when the segment came into its host's queue
  };
  struct Interface {
    uint32_t first = kNone;
    uint32_t last = kNone;
    int64_t waiting = 0;       // bytes of frames in the queue
    uint32_t sending = kNone;  // the connection whose segment is being sent
    bool busy = false;
    Nanoseconds free = 0;
    Nanoseconds port_free = 0;  // when the switch's port to this host is free
    int64_t outgoing = 0;       // number of messages that it sends
    int64_t incoming = 0;
  };
  struct Connection {
    Connection(Rank sender, Rank receiver, CongestionControl control)
        : from(sender), to(receiver), window(control) {}
    Rank from;
    Rank to;
    CongestionWindow window;
    int64_t in_flight = 0;  // number of segments
    int64_t queued = 0;     // number of these in the host's queue
    // At the receiver: the segments that it has not acknowledged, the number of segments that it
    // still acknowledges one by one, and when it got the last one.
    uint32_t pending = 0;
    int quick = kQuick;
    Nanoseconds received = 0;
    std::vector<Segment> lost;     // segments to be sent again
    std::vector<FlowId> messages;  // messages with unsent bytes
    FlowId unbuffered = kNoFlow;   // the message for which the buffer has had no room yet
    int answers = 0;               // number of answers to replies, to be sent after the messages
  };
  struct Message {
    Rank from = 0;
    Rank to = 0;
    int64_t unsent = 0;   // bytes that have never been in the host's queue
    int64_t missing = 0;  // bytes that the switch has not seen
    Nanoseconds arrival = 0;
  };

  uint32_t ConnectionOf(Rank from, Rank to);
  Nanoseconds Duration(int64_t bytes) const;
  uint32_t NewFrame(const Frame& frame);
  // Tells the clock once the connection's message is in the host's buffer, with all that was sent
  // before it and is not acknowledged.
  void Buffer(Connection& connection, Nanoseconds now);
  // Sends what window and queue allow.
  void Pump(uint32_t connection, Nanoseconds now);
  Segment NextSegment(Connection& connection);
  void Enqueue(Rank host, uint32_t frame, Nanoseconds now);
  void SendNext(Rank host, Nanoseconds now);
  // Lets a frame of `duration` cross the switch from now on. Returns when all of it is at `to`.
  Nanoseconds Cross(Rank to, Nanoseconds duration, Nanoseconds now);
  bool Overflows(Rank to, Nanoseconds now) const;
  void SendData(uint32_t frame, Nanoseconds duration, Nanoseconds now);
  // Passes on a segment that is at the switch and will be at its receiver at `arrival`.
  void Pass(uint32_t frame, Nanoseconds arrival, Nanoseconds left);
  // Counts a segment that is at the switch. Returns whether all of its message is.
  bool IsLast(const Segment& segment, Nanoseconds arrival, Nanoseconds left);
  // Returns whether the receiver acknowledges at once a segment that arrives at `arrival`.
  bool Acknowledges(Connection& connection, bool last, Nanoseconds arrival);
  void OnSent(Rank host, Nanoseconds now);
  void OnSegment(uint32_t frame, Nanoseconds now);
  void OnAck(uint32_t frame, Nanoseconds now);
  void OnReply(uint32_t frame, Nanoseconds now);
  void OnLoss(uint32_t frame, Nanoseconds now);
  void Free(uint32_t frame);

  const double wire_time_;  // nanoseconds for each byte of a frame
  const double bandwidth_;
  const Nanoseconds latency_;
  const CongestionControl control_;
  const Nanoseconds port_patience_;  // what may wait for a port, as a time
  AlarmClock* const clock_;

  std::vector<Interface> interfaces_;
  std::unordered_map<uint64_t, uint32_t> by_ranks_;
  std::vector<Connection> connections_;
  std::vector<Message> messages_;
  std::vector<Frame> frames_;
  uint32_t free_frame_ = kNone;
  int64_t sent_frames_ = 0;
  int64_t lost_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_PACKET_NETWORK_H_
