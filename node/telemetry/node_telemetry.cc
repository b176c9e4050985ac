#include "node/telemetry/node_telemetry.h"

#include <algorithm>

namespace grapevine {
namespace {

double InSeconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void RoundDurations::Add(std::chrono::nanoseconds time) {
  ++counts[std::ranges::lower_bound(kBounds, InSeconds(time)) - kBounds.begin()];
  sum += time;
}

void NodeTelemetry::Begin(Round round, bool keeps_checkpoints, Clock::time_point now) {
  MutexLock lock(mutex_);
  figures_.ready = true;
  figures_.round = round;
  if (keeps_checkpoints) checkpoint_ = {round, now};
}

void NodeTelemetry::CountFrom(int64_t bytes_sent, int64_t bytes_received) {
  MutexLock lock(mutex_);
  sent_before_ = bytes_sent;
  received_before_ = bytes_received;
}

void NodeTelemetry::OnRound(Round completed, std::chrono::nanoseconds time) {
  MutexLock lock(mutex_);
  figures_.round = completed;
  figures_.durations.Add(time);
}

void NodeTelemetry::OnWait(Rank peer, std::chrono::nanoseconds time) {
  MutexLock lock(mutex_);
  figures_.waited[peer] += time;
}

void NodeTelemetry::OnTraffic(int64_t bytes_sent, int64_t bytes_received) {
  MutexLock lock(mutex_);
  figures_.bytes_sent = bytes_sent - sent_before_;
  figures_.bytes_received = bytes_received - received_before_;
}

void NodeTelemetry::OnLine(const NodeMetrics& line, int64_t samples) {
  MutexLock lock(mutex_);
  figures_.line = line;
  figures_.samples += samples;
  figures_.gradient_s += line.gradient_s.value_or(0);
  figures_.mix_s += line.mix_s.value_or(0);
  figures_.wait_s += line.wait_s.value_or(0);
}

void NodeTelemetry::OnCheckpoint(Round round, Clock::time_point now) {
  MutexLock lock(mutex_);
  checkpoint_ = {round, now};
}

NodeFigures NodeTelemetry::Read(Clock::time_point now) const {
  MutexLock lock(mutex_);
  NodeFigures figures = figures_;
  if (checkpoint_) figures.checkpoint = {checkpoint_->round, InSeconds(now - checkpoint_->at)};
  return figures;
}

}  // namespace grapevine
