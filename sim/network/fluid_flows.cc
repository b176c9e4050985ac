#include "sim/network/fluid_flows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace grapevine {
namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
// In bytes: anything less is rounding.
constexpr double kRoundingOfBytes = 1e-6;
// Longer than any simulation, and far from overflow.
constexpr double kLongest = 9e18;

uint32_t NextVersion(uint32_t version) { return (version + 1) & kAlarmVersionMask; }

}  // namespace

void FluidFlows::Begin(FlowId id, double bytes, Nanoseconds now) {
  if (id >= progress_.size()) progress_.resize(id + 1);
  Progress& flow = progress_[id];
  flow.remaining = bytes;
  flow.rate = 0;
  flow.updated = now;
  flow.finish = kNever;
  flow.alarm = kNever;
}

void FluidFlows::SetRate(FlowId id, double rate, Nanoseconds now) {
  Progress& flow = progress_[id];
  flow.remaining = Left(id, now);
  flow.updated = now;
  flow.rate = rate;
  if (flow.remaining <= kRoundingOfBytes) {
    flow.remaining = 0;
    flow.finish = now;
  } else {
    const double duration = std::ceil((flow.remaining - kRoundingOfBytes) / rate);
    flow.finish = duration < kLongest - static_cast<double>(now)
                      ? now + static_cast<Nanoseconds>(duration)
                      : kNever;
  }
  // An alarm that rings too early is set again when it does; one that would ring too late is
  // replaced.
  if (flow.finish >= flow.alarm) return;
  flow.alarm = flow.finish;
  flow.version = NextVersion(flow.version);
  clock_->SetAlarm(id, flow.version, flow.alarm);
}

double FluidFlows::Left(FlowId id, Nanoseconds now) const {
  const Progress& flow = progress_[id];
  return flow.remaining - flow.rate * static_cast<double>(now - flow.updated);
}

bool FluidFlows::OnAlarm(FlowId id, uint32_t version, Nanoseconds now) {
  Progress& flow = progress_[id];
  if (version != flow.version) return false;
  if (flow.finish <= now) {
    flow.version = NextVersion(flow.version);
    return true;
  }
  flow.alarm = flow.finish;
  if (flow.alarm != kNever) clock_->SetAlarm(id, flow.version, flow.alarm);
  return false;
}

}  // namespace grapevine
