#include "sim/network/faulty_network.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

// The least time that Linux waits before it sends packets again (TCP_RTO_MIN).
constexpr Nanoseconds kRetransmission = 200'000'000;

std::chrono::nanoseconds AsTime(Nanoseconds time) { return std::chrono::nanoseconds(time); }

}  // namespace

FaultyNetwork::FaultyNetwork(std::unique_ptr<NetworkModel> network, const FaultTimeline* faults,
                             uint64_t seed, AlarmClock* clock)
    : network_(std::move(network)), faults_(faults), seed_(seed), clock_(clock) {}

Nanoseconds FaultyNetwork::Passable(Rank from, Rank to, Nanoseconds time) const {
  return std::min<Nanoseconds>(faults_->Passable(from, to, AsTime(time)).count(), kFar);
}

void FaultyNetwork::Hold(FlowId id, Stage stage, Nanoseconds now, Nanoseconds until) {
  State& state = flows_[id];
  if (state.stage == Stage::kHeld) state.held += now - state.since;
  state.stage = stage;
  state.since = now;
  state.due = until;
  clock_->SetAlarm(id, kOwn, until);
}

void FaultyNetwork::Start(FlowId id, const Flow& flow, Nanoseconds now) {
  if (id >= flows_.size()) flows_.resize(id + 1);
  flows_[id] = {.flow = flow, .since = now};
  const Nanoseconds passable = Passable(flow.from, flow.to, now);
  if (passable > now) return Hold(id, Stage::kWaits, now, passable);
  network_->Start(id, flow, now);
}

bool FaultyNetwork::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  if (version != kOwn || id >= flows_.size() || flows_[id].due != now) {
    return network_->OnAlarm(id, version, now) && Leaves(id, now);
  }
  State& state = flows_[id];
  state.due = -1;
  if (state.stage == Stage::kHeld) return Leaves(id, now);
  const Flow flow = state.flow;
  Start(id, flow, now);
  return false;
}

Nanoseconds FaultyNetwork::EndOf(State& state, Nanoseconds now) {
  const Flow& flow = state.flow;
  const Nanoseconds end = std::min<Nanoseconds>(
      faults_->EndOfPassage(flow.from, flow.to, AsTime(state.since), AsTime(now - state.since))
          .count(),
      kFar);
  return IsDropped(flow, now) ? end + kRetransmission : end;
}

bool FaultyNetwork::Leaves(FlowId id, Nanoseconds now) {
  State& state = flows_[id];
  // A flow that was held has passed by now.
  const Nanoseconds passed = state.stage == Stage::kFlows ? EndOf(state, now) : now;
  const Nanoseconds until = Passable(state.flow.from, state.flow.to, passed);
  if (until > now) {
    Hold(id, Stage::kHeld, now, until);
    return false;
  }
  if (state.stage == Stage::kHeld) state.held += now - state.since;
  state.since = now;
  return true;
}

bool FaultyNetwork::IsDropped(const Flow& flow, Nanoseconds now) {
  const double chance = faults_->DropChance(flow.from, flow.to, AsTime(now));
  if (chance == 0) return false;
  return KeyedRandom(seed_, Purpose::kChaos, draws_++, uint64_t{1} << 63).Unit() < chance;
}

double FaultyNetwork::Left(FlowId id, Nanoseconds now) const {
  switch (flows_[id].stage) {
    case Stage::kWaits:
      return flows_[id].flow.bytes;
    case Stage::kHeld:
      return 0;
    case Stage::kFlows:
      return network_->Left(id, now);
  }
  return 0;
}

double FaultyNetwork::rate(FlowId id) const {
  return flows_[id].stage == Stage::kFlows ? network_->rate(id) : 0;
}

Nanoseconds FaultyNetwork::Delay(Rank from, Rank to, Nanoseconds now) const {
  return Passable(from, to, now + network_->Delay(from, to, now)) - now;
}

Nanoseconds FaultyNetwork::Reply(Rank sender, Rank receiver, Nanoseconds now) {
  return Passable(receiver, sender, now + network_->Reply(sender, receiver, now)) - now;
}

// A flow takes as long from its departure to its arrival as in the other model.
Nanoseconds FaultyNetwork::Arrival(FlowId id, Rank from, Rank to, Nanoseconds now) const {
  const Nanoseconds held = flows_[id].held;
  return Passable(from, to, network_->Arrival(id, from, to, now - held) + held);
}

}  // namespace grapevine
