#include "sim/engine/credit_turns.h"

#include <algorithm>
#include <cmath>

namespace grapevine {

CreditTurns::Receiver& CreditTurns::At(Rank to) {
  if (receivers_.empty()) receivers_.resize(nodes_);
  return receivers_[to];
}

void CreditTurns::Hold(Rank to, const Post& post, int64_t bytes) {
  Receiver& receiver = At(to);
  receiver.order.Post(post.from, post.tag, post.round, bytes);
  receiver.held.push_back(post);
}

void CreditTurns::Begin(FlowId flow, const MessageTimes& message, Nanoseconds now) {
  At(message.to)
      .coming.push_back({.flow = flow,
                         .from = message.from,
                         .tag = message.tag,
                         .bytes = static_cast<double>(message.bytes),
                         .arrival = -1});
}

void CreditTurns::Leave(FlowId flow, const MessageTimes& message) {
  Receiver& receiver = At(message.to);
  const auto beside = std::ranges::count(receiver.coming, -1, &Coming::arrival);
  std::ranges::find(receiver.coming, flow, &Coming::flow)->arrival = message.arrived;
  if (message.left == message.begun) return;
  receiver.rate = static_cast<double>(message.bytes * beside) /
                  static_cast<double>(message.left - message.begun);
}

void CreditTurns::Arrive(FlowId flow, const MessageTimes& message) {
  Receiver& receiver = At(message.to);
  receiver.order.Close(message.from, message.tag);
  std::erase_if(receiver.coming, [flow](const Coming& coming) { return coming.flow == flow; });
}

double CreditTurns::Lacks(Rank to, const Receiver& receiver, const Coming& message,
                          Nanoseconds now) const {
  const double lacks = message.arrival >= 0
                           ? receiver.rate * static_cast<double>(message.arrival - now)
                           : network_->Left(message.flow, now) +
                                 network_->rate(message.flow) *
                                     static_cast<double>(network_->Latency(message.from, to));
  return std::min(lacks, message.bytes);
}

double CreditTurns::RateNow(const Receiver& receiver) const {
  double rate = 0;
  for (const Coming& message : receiver.coming) {
    if (message.arrival < 0) rate += network_->rate(message.flow);
  }
  return rate > 0 ? rate : receiver.rate;
}

std::vector<CreditTurns::Post> CreditTurns::Due(Rank to, Nanoseconds now) {
  std::vector<Post> due;
  Receiver& receiver = At(to);
  if (receiver.held.empty()) return due;
  for (const Coming& message : receiver.coming) {
    receiver.order.Lacks(message.from, message.tag,
                         std::llround(Lacks(to, receiver, message, now)));
  }
  const auto allowance = [&](Rank from) {
    return receiver.rate * static_cast<double>(network_->Latency(to, from));
  };
  for (const CreditOrder::Message& message : receiver.order.Take(allowance)) {
    const auto post = std::ranges::find_if(receiver.held, [&](const Post& held) {
      return held.from == message.from && held.tag == message.tag;
    });
    due.push_back(*post);
    receiver.held.erase(post);
  }
  if (!receiver.held.empty()) CheckLater(to, receiver.order.Excess(allowance), now);
  return due;
}

void CreditTurns::CheckLater(Rank to, double excess, Nanoseconds now) {
  Receiver& receiver = receivers_[to];
  const double rate = RateNow(receiver);
  // Before anything came, or while nothing comes, there is nothing to reckon with.
  if (receiver.coming.empty() || rate == 0) return;
  const Nanoseconds when = now + std::max<Nanoseconds>(1, std::llround(std::ceil(excess / rate)));
  if (receiver.check > now && receiver.check <= when) return;
  receiver.check = when;
  queue_->Push(
      when,
      SimEvent{.kind = SimEventKind::kCredits, .version = 0, .index = static_cast<uint32_t>(to)});
}

}  // namespace grapevine
