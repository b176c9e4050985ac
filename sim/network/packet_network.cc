#include "sim/network/packet_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace grapevine {
namespace {

constexpr int64_t kFrame = PacketNetwork::kSegment + PacketNetwork::kHeaders;
// Payload of a credit or a receipt, and of the window update that answers it, as gRPC sends them.
constexpr int64_t kReplyBytes = 24;
constexpr int64_t kAnswerBytes = 26;
// The number of segments for which a receiver sends one acknowledgement.
constexpr uint32_t kAcknowledged = 2;

}  // namespace

PacketNetwork::PacketNetwork(Rank nodes, const PacketOptions& options, AlarmClock* clock)
    : wire_time_(static_cast<double>(kSegment) / static_cast<double>(kFrame) / options.bandwidth),
      bandwidth_(options.bandwidth),
      latency_(options.latency),
      control_(options.control),
      port_patience_(Duration(options.port_queue)),
      clock_(clock),
      interfaces_(nodes) {}

Nanoseconds PacketNetwork::Duration(int64_t bytes) const {
  return std::llround(static_cast<double>(bytes) * wire_time_);
}

uint32_t PacketNetwork::ConnectionOf(Rank from, Rank to) {
  const auto [found, first] =
      by_ranks_.try_emplace(ConnectionKey(from, to), static_cast<uint32_t>(connections_.size()));
  if (first) connections_.emplace_back(from, to, control_);
  return found->second;
}

int64_t PacketNetwork::window(Rank from, Rank to) const {
  return connections_[by_ranks_.at(ConnectionKey(from, to))].window.segments();
}

void PacketNetwork::Start(FlowId id, const Flow& flow, Nanoseconds now) {
  if (id >= messages_.size()) messages_.resize(id + 1);
  const auto bytes = std::max<int64_t>(1, std::llround(flow.bytes));
  messages_[id] = {.from = flow.from, .to = flow.to, .unsent = bytes, .missing = bytes};
  ++interfaces_[flow.from].outgoing;
  ++interfaces_[flow.to].incoming;
  const uint32_t connection = ConnectionOf(flow.from, flow.to);
  connections_[connection].messages.push_back(id);
  connections_[connection].unbuffered = id;
  Buffer(connections_[connection], now);
  Pump(connection, now);
}

void PacketNetwork::Buffer(Connection& connection, Nanoseconds now) {
  const FlowId id = connection.unbuffered;
  if (id == kNoFlow) return;
  const int64_t held = connection.in_flight * kSegment + messages_[id].unsent;
  if (held > connection.window.send_buffer()) return;
  connection.unbuffered = kNoFlow;
  clock_->Buffered(id, now);
}

double PacketNetwork::rate(FlowId id) const {
  const Message& message = messages_[id];
  const int64_t sharers =
      std::max(interfaces_[message.from].outgoing, interfaces_[message.to].incoming);
  return bandwidth_ / static_cast<double>(sharers);
}

Nanoseconds PacketNetwork::Delay(Rank from, Rank to, Nanoseconds now) const {
  if (from == to) return 0;
  const Interface& out = interfaces_[from];
  const Nanoseconds begin = std::max(now, out.free) + Duration(out.waiting);
  return std::max(begin + latency_, interfaces_[to].port_free) - now;
}

uint32_t PacketNetwork::NewFrame(const Frame& frame) {
  if (free_frame_ == kNone) {
    frames_.push_back(frame);
    return static_cast<uint32_t>(frames_.size() - 1);
  }
  const uint32_t id = std::exchange(free_frame_, frames_[free_frame_].next);
  frames_[id] = frame;
  return id;
}

void PacketNetwork::Free(uint32_t frame) {
  frames_[frame].next = std::exchange(free_frame_, frame);
}

PacketNetwork::Segment PacketNetwork::NextSegment(Connection& connection) {
  if (!connection.lost.empty()) {
    const Segment again = connection.lost.back();
    connection.lost.pop_back();
    return again;
  }
  if (connection.messages.empty()) {
    --connection.answers;
    return {kAnswer, kAnswerBytes};
  }
  const FlowId id = connection.messages.front();
  const int64_t bytes = std::min(messages_[id].unsent, kSegment);
  messages_[id].unsent -= bytes;
  if (messages_[id].unsent == 0) connection.messages.erase(connection.messages.begin());
  return {id, bytes};
}

void PacketNetwork::Pump(uint32_t id, Nanoseconds now) {
  Connection& connection = connections_[id];
  const auto has_unsent = [&] {
    return !connection.lost.empty() || !connection.messages.empty() || connection.answers > 0;
  };
  if (!has_unsent()) return;
  CongestionWindow& window = connection.window;
  if (connection.in_flight == 0) window.Resume(now);
  int64_t sent = 0;
  while (has_unsent() && connection.in_flight < window.segments() &&
         connection.queued + window.burst() <= window.queued()) {
    for (int64_t i = window.burst();
         i > 0 && has_unsent() && connection.in_flight < window.segments(); --i) {
      ++connection.in_flight;
      ++connection.queued;
      ++sent;
      Enqueue(connection.from,
              NewFrame({.connection = id, .segment = NextSegment(connection), .since = now}), now);
    }
  }
  window.OnSent(sent, connection.in_flight, now);
}

void PacketNetwork::Enqueue(Rank host, uint32_t frame, Nanoseconds now) {
  Interface& out = interfaces_[host];
  (out.last == kNone ? out.first : frames_[out.last].next) = frame;
  out.last = frame;
  frames_[frame].next = kNone;
  out.waiting += frames_[frame].segment.bytes + kHeaders;
  if (!out.busy) SendNext(host, now);
}

void PacketNetwork::SendNext(Rank host, Nanoseconds now) {
  Interface& out = interfaces_[host];
  out.busy = out.first != kNone;
  if (!out.busy) return;
  const uint32_t frame = out.first;
  out.first = frames_[frame].next;
  if (out.first == kNone) out.last = kNone;
  const uint32_t connection = frames_[frame].connection;
  const int64_t bytes = frames_[frame].segment.bytes + kHeaders;
  const Nanoseconds duration = Duration(bytes);
  out.waiting -= bytes;
  out.free = now + duration;
  ++sent_frames_;
  clock_->SetAlarm(static_cast<uint32_t>(host), kSent, out.free);
  const Alarm arrival = frames_[frame].arrival;
  out.sending = arrival == kSegmentThere ? connection : kNone;
  if (arrival == kSegmentThere) return SendData(frame, duration, now);
  clock_->SetAlarm(frame, arrival, Cross(connections_[connection].from, duration, now));
}

Nanoseconds PacketNetwork::Cross(Rank to, Nanoseconds duration, Nanoseconds now) {
  Nanoseconds& port = interfaces_[to].port_free;
  port = std::max(port, now + latency_) + duration;
  return port;
}

bool PacketNetwork::Overflows(Rank to, Nanoseconds now) const {
  return interfaces_[to].port_free - (now + latency_) > port_patience_;
}

void PacketNetwork::SendData(uint32_t frame, Nanoseconds duration, Nanoseconds now) {
  const Rank to = connections_[frames_[frame].connection].to;
  if (Overflows(to, now)) {
    ++lost_;
    clock_->SetAlarm(frame, kLoss, interfaces_[to].port_free + latency_);
    return;
  }
  Pass(frame, Cross(to, duration, now), now + duration);
}

void PacketNetwork::Pass(uint32_t frame, Nanoseconds arrival, Nanoseconds left) {
  const Segment& segment = frames_[frame].segment;
  Connection& connection = connections_[frames_[frame].connection];
  const bool last = segment.message == kAnswer || IsLast(segment, arrival, left);
  if (!Acknowledges(connection, last, arrival)) return Free(frame);
  frames_[frame].acknowledges = std::exchange(connection.pending, 0);
  clock_->SetAlarm(frame, kSegmentThere, arrival);
}

bool PacketNetwork::IsLast(const Segment& segment, Nanoseconds arrival, Nanoseconds left) {
  Message& message = messages_[segment.message];
  message.missing -= segment.bytes;
  if (message.missing > 0) return false;
  message.arrival = arrival;
  FlowId& unbuffered = connections_[ConnectionOf(message.from, message.to)].unbuffered;
  if (unbuffered == segment.message) unbuffered = kNoFlow;
  clock_->SetAlarm(segment.message, kLeft, left);
  return true;
}

bool PacketNetwork::Acknowledges(Connection& connection, bool last, Nanoseconds arrival) {
  if (arrival - connection.received > connection.window.timeout()) connection.quick = kQuick;
  connection.received = arrival;
  ++connection.pending;
  if (connection.quick > 0) {
    --connection.quick;
    return true;
  }
  return last || connection.pending == kAcknowledged;
}

bool PacketNetwork::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  switch (static_cast<Alarm>(version)) {
    case kSent:
      OnSent(static_cast<Rank>(id), now);
      return false;
    case kSegmentThere:
      OnSegment(id, now);
      return false;
    case kAckThere:
      OnAck(id, now);
      return false;
    case kReplyThere:
      OnReply(id, now);
      return false;
    case kLoss:
      OnLoss(id, now);
      return false;
    case kLeft:
      --interfaces_[messages_[id].from].outgoing;
      --interfaces_[messages_[id].to].incoming;
      return true;
  }
  return false;
}

void PacketNetwork::OnSent(Rank host, Nanoseconds now) {
  const uint32_t connection = interfaces_[host].sending;
  if (connection != kNone) {
    --connections_[connection].queued;
    Pump(connection, now);
  }
  SendNext(host, now);
}

void PacketNetwork::OnSegment(uint32_t frame, Nanoseconds now) {
  frames_[frame].segment.bytes = 0;
  frames_[frame].arrival = kAckThere;
  Enqueue(connections_[frames_[frame].connection].to, frame, now);
}

void PacketNetwork::OnAck(uint32_t frame, Nanoseconds now) {
  const Frame ack = frames_[frame];
  Free(frame);
  Connection& connection = connections_[ack.connection];
  connection.in_flight -= ack.acknowledges;
  connection.window.OnAck(ack.acknowledges, now - ack.since, now);
  Buffer(connection, now);
  Pump(ack.connection, now);
}

Nanoseconds PacketNetwork::Reply(Rank sender, Rank receiver, Nanoseconds now) {
  const Nanoseconds delay = Delay(receiver, sender, now);
  const uint32_t connection = ConnectionOf(sender, receiver);
  Enqueue(
      receiver,
      NewFrame(
          {.connection = connection, .arrival = kReplyThere, .segment = {kAnswer, kReplyBytes}}),
      now);
  return delay;
}

void PacketNetwork::OnReply(uint32_t frame, Nanoseconds now) {
  const uint32_t connection = frames_[frame].connection;
  Free(frame);
  ++connections_[connection].answers;
  Pump(connection, now);
}

void PacketNetwork::OnLoss(uint32_t frame, Nanoseconds now) {
  const Frame lost = frames_[frame];
  Free(frame);
  Connection& connection = connections_[lost.connection];
  --connection.in_flight;
  connection.lost.push_back(lost.segment);
  connection.window.OnLoss();
  Pump(lost.connection, now);
}

}  // namespace grapevine
