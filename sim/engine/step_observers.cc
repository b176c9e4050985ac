#include "sim/engine/step_observers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/units.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"

namespace grapevine {

namespace {

using std::chrono::nanoseconds;

constexpr size_t kMaxWaitedFor = 10;

// Returns the `most` ranks with the largest positive `value`, largest first. Among equals the lower
// rank comes first.
template <typename Value>
std::vector<Rank> Largest(Rank ranks, size_t most, Value value) {
  std::vector<Rank> result;
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (value(rank) > 0) result.push_back(rank);
  }
  const auto before = [&value](Rank a, Rank b) {
    return value(a) != value(b) ? value(a) > value(b) : a < b;
  };
  const size_t kept = std::min(most, result.size());
  std::ranges::partial_sort(result, result.begin() + static_cast<std::ptrdiff_t>(kept), before);
  result.resize(kept);
  return result;
}

template <typename Nodes, typename Value>
Spread SpreadOver(const Nodes& nodes, Value value) {
  std::vector<double> values;
  for (const auto& node : nodes) values.push_back(value(node));
  return SpreadOf(values);
}

Spread Scaled(const Spread& spread, double by) {
  return {.min = spread.min * by, .mean = spread.mean * by, .max = spread.max * by};
}

}  // namespace

StepStatistics::StepStatistics(const Options& options)
    : options_(options), nodes_(options.nodes), end_(options.begin_time) {
  for (size_t rank = 0; rank < nodes_.size(); ++rank) {
    Node& node = nodes_[rank];
    node.before = rank < options.done.size() ? options.done[rank] : options.begin;
    node.step.Begin(node.before, nanoseconds(options.begin_time));
  }
}

void StepStatistics::OnGradient(const GradientTimes& gradient) {
  nodes_[gradient.rank].step.OnGradient(nanoseconds(gradient.begin), nanoseconds(gradient.end));
  end_ = std::max(end_, gradient.end);
}

void StepStatistics::OnMessage(const MessageTimes& message) {
  nodes_[message.from].bytes_sent += message.bytes;
  Node& node = nodes_[message.to];
  node.bytes_received += message.bytes;
  end_ = std::max(end_, message.arrived);
  node.step.OnMessage(message.from, message.round, nanoseconds(message.arrived));
}

void StepStatistics::OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
  nodes_[rank].step.OnArithmetic(nanoseconds(end - begin));
  end_ = std::max(end_, end);
}

absl::Status StepStatistics::OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec) {
  Node& node = nodes_[rank];
  const StepAccount::Step step = node.step.End(completed, nanoseconds(now));
  if (TakesSteps(rank)) steps_.Add(step.time.count());
  node.total_gradient += step.gradient.count();
  node.total_mix += step.mix.count();
  node.total_wait += step.wait.count();
  if (step.awaited) AddWait(rank, *step.awaited, step.wait.count());
  end_ = std::max(end_, now);
  return absl::OkStatus();
}

absl::Status StepStatistics::OnReturn(Rank rank, Round from, Nanoseconds now) {
  Node& node = nodes_[rank];
  node.missed += from - node.step.completed();
  node.step.Begin(from, nanoseconds(now));
  end_ = std::max(end_, now);
  return absl::OkStatus();
}

void StepStatistics::AddWait(Rank rank, Rank awaited, Nanoseconds wait) {
  if (TakesSteps(rank)) nodes_[awaited].caused += wait;
  nodes_[rank].waits.Add(awaited, nanoseconds(wait));
  nodes_[rank].recent_waits.Add(awaited, nanoseconds(wait));
}

std::map<int64_t, AwaitedPeers> StepStatistics::waits() const {
  std::map<int64_t, AwaitedPeers> waits;
  for (Rank rank = 0; rank < options_.nodes; ++rank) {
    if (TakesSteps(rank)) waits.emplace(rank, nodes_[rank].waits);
  }
  return waits;
}

AwaitedPeers StepStatistics::TakeWaits(Rank rank) {
  return std::exchange(nodes_[rank].recent_waits, AwaitedPeers(kMostAwaited));
}

NodeStatistics StepStatistics::Describe(Rank rank) const {
  const Node& node = nodes_[rank];
  return {.rank = rank,
          .steps = node.step.completed() - node.before - node.missed,
          .gradient_s = SecondsOfNanoseconds(node.total_gradient),
          .mix_s = SecondsOfNanoseconds(node.total_mix),
          .wait_s = SecondsOfNanoseconds(node.total_wait),
          .waited_for = InSeconds(node.waits),
          .bytes_sent = node.bytes_sent,
          .bytes_received = node.bytes_received};
}

std::vector<Rank> StepStatistics::Listed() const {
  std::vector<Rank> ranks;
  if (nodes_.size() <= kMaxListed) {
    ranks.resize(nodes_.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  ranks =
      Largest(options_.nodes, kMaxListed, [this](Rank rank) { return nodes_[rank].total_wait; });
  std::ranges::sort(ranks);
  return ranks;
}

Statistics StepStatistics::Result() const {
  const Rank workers = options_.workers == 0 ? options_.nodes : options_.workers;
  const Nanoseconds lasted = end_ - options_.begin_time;
  Statistics statistics{
      .nodes = options_.nodes, .time_s = SecondsOfNanoseconds(lasted), .steps = steps_};
  for (Rank rank = 0; rank < workers; ++rank) {
    statistics.gradient_s += SecondsOfNanoseconds(nodes_[rank].total_gradient);
    statistics.mix_s += SecondsOfNanoseconds(nodes_[rank].total_mix);
    statistics.wait_s += SecondsOfNanoseconds(nodes_[rank].total_wait);
  }
  const double steps = std::max(1.0, static_cast<double>(steps_.count()));
  statistics.gradient_s /= steps;
  statistics.mix_s /= steps;
  statistics.wait_s /= steps;
  for (Rank rank :
       Largest(options_.nodes, kMaxWaitedFor, [this](Rank r) { return nodes_[r].caused; })) {
    statistics.waited_for.push_back({rank, SecondsOfNanoseconds(nodes_[rank].caused)});
  }
  statistics.bytes_sent =
      SpreadOver(nodes_, [](const Node& node) { return static_cast<double>(node.bytes_sent); });
  statistics.bytes_received =
      SpreadOver(nodes_, [](const Node& node) { return static_cast<double>(node.bytes_received); });
  const double capacity = options_.bandwidth * static_cast<double>(lasted);
  if (capacity > 0) {
    statistics.egress_utilization = Scaled(statistics.bytes_sent, 1 / capacity);
    statistics.ingress_utilization = Scaled(statistics.bytes_received, 1 / capacity);
  }
  for (Rank rank : Listed()) statistics.listed.push_back(Describe(rank));
  return statistics;
}

std::vector<LinkStatistics> BusiestLinks(const Platform& platform, std::span<const double> bytes,
                                         Nanoseconds time, size_t most) {
  const std::span<const Link> links = platform.links();
  const auto utilization = [&](LinkId link) {
    return time > 0 ? bytes[link] / (links[link].capacity * static_cast<double>(time)) : 0;
  };
  std::vector<LinkId> busy;
  for (LinkId link = 0; link < bytes.size(); ++link) {
    if (bytes[link] > 0) busy.push_back(link);
  }
  const size_t listed = std::min(most, busy.size());
  // Among equally busy links, the first in the platform's order comes first.
  const auto busier = [&](LinkId a, LinkId b) {
    const double ua = utilization(a), ub = utilization(b);
    return ua != ub ? ua > ub : a < b;
  };
  std::ranges::partial_sort(busy, busy.begin() + static_cast<ptrdiff_t>(listed), busier);
  std::vector<LinkStatistics> statistics;
  for (size_t i = 0; i < listed; ++i) {
    statistics.push_back({.name = platform.LinkName(busy[i]),
                          .bytes = std::llround(bytes[busy[i]]),
                          .utilization = utilization(busy[i])});
  }
  return statistics;
}

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

absl::Status SimTrace::OnReturn(Rank rank, Round, Nanoseconds now) {
  nodes_[rank] = {.began = now, .busy_until = now, .gradient_end = kNotDone};
  return absl::OkStatus();
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
