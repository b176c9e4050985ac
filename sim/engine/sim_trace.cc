#include "sim/engine/sim_trace.h"

#include <algorithm>

namespace grapevine {
namespace {

constexpr Nanoseconds kNotDone = -1;

}  // namespace

SimTrace::SimTrace(Rank nodes, ChromeTrace* trace)
    : trace_(trace), nodes_(nodes, Node{.gradient_end = kNotDone}) {}

void SimTrace::OnGradient(const GradientTimes& gradient) {
  trace_.Gradient(gradient.rank, gradient.round, {gradient.begin, gradient.end});
  nodes_[gradient.rank].gradient_end = gradient.end;
}

void SimTrace::OnMessage(const MessageTimes& message) {
  const TraceMessage name{.from = message.from,
                          .to = message.to,
                          .channel = message.tag.channel,
                          .round = message.tag.index,
                          .step = message.tag.step};
  trace_.Sent(name, message.bytes, {message.begun, message.left});
  // The first byte took as long as the last one.
  trace_.Received(name, {message.begun + message.arrived - message.left, message.arrived});
  nodes_[message.to].last_sender = message.from;
}

void SimTrace::EndWait(Rank rank, Nanoseconds now) {
  Node& node = nodes_[rank];
  if (node.gradient_end != kNotDone) {
    const Nanoseconds idle = std::max(node.busy_until, node.gradient_end);
    if (idle < now) trace_.Wait(rank, node.last_sender, {idle, now});
  }
  node.busy_until = std::max(node.busy_until, now);
}

void SimTrace::OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
  EndWait(rank, begin);
  trace_.Mix(rank, {begin, end});
  nodes_[rank].busy_until = end;
}

absl::Status SimTrace::OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec) {
  EndWait(rank, now);
  Node& node = nodes_[rank];
  trace_.Step(rank, completed - 1, {node.began, now});
  node.began = now;
  node.gradient_end = kNotDone;
  return absl::OkStatus();
}

}  // namespace grapevine
