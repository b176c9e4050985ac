#include "node/runner/trace_recorder.h"

#include <algorithm>

#include "system/machine_names.h"

namespace grapevine {
namespace {

int64_t Nanoseconds(TraceRecorder::Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

TraceRecord Interval(TraceKind kind, TraceRecorder::Time begin, TraceRecorder::Time end) {
  return {.begin = Nanoseconds(begin), .end = Nanoseconds(end), .kind = kind};
}

TraceRecord Message(TraceKind kind, Rank peer, const Tag& tag, TraceRecorder::Time begin,
                    TraceRecorder::Time end) {
  TraceRecord record = Interval(kind, begin, end);
  record.round = tag.index;
  record.step = tag.step;
  record.channel = tag.channel;
  record.peer = peer;
  return record;
}

}  // namespace

void TraceRecorder::Record(const TraceRecord& record) {
  if (records_.size() < most_) {
    records_.push_back(record);
    return;
  }
  records_[next_] = record;
  next_ = (next_ + 1) % most_;
  ++dropped_;
}

void TraceRecorder::Start(Time now) {
  MutexLock lock(mutex_);
  start_ = step_ = now;
}

void TraceRecorder::EndStep(Round round, Time now) {
  MutexLock lock(mutex_);
  TraceRecord record = Interval(TraceKind::kStep, std::exchange(step_, now), now);
  record.round = round;
  Record(record);
}

void TraceRecorder::BeginGradient() {
  MutexLock lock(mutex_);
  computing_ = true;
}

void TraceRecorder::EndGradient(Round round, Time begin, Time end) {
  TraceRecord record = Interval(TraceKind::kGradient, begin, end);
  record.round = round;
  MutexLock lock(mutex_);
  computing_ = false;
  Record(record);
}

void TraceRecorder::Mix(Time begin, Time end) {
  MutexLock lock(mutex_);
  Record(Interval(TraceKind::kMix, begin, end));
}

void TraceRecorder::Wait(Rank peer, Time begin, Time end) {
  TraceRecord record = Interval(TraceKind::kWait, begin, end);
  record.peer = peer;
  MutexLock lock(mutex_);
  if (!computing_) Record(record);
}

void TraceRecorder::BeginSend(Rank to, const Tag& tag, int64_t bytes) {
  const Time now = Clock::now();
  MutexLock lock(mutex_);
  sends_[{to, tag}] = {.begin = now, .bytes = bytes};
}

void TraceRecorder::EndSend(Rank to, const Tag& tag) {
  const Time now = Clock::now();
  MutexLock lock(mutex_);
  const auto send = sends_.find({to, tag});
  if (send == sends_.end()) return;
  TraceRecord record = Message(TraceKind::kSent, to, tag, send->second.begin, now);
  record.bytes = send->second.bytes;
  Record(record);
  sends_.erase(send);
}

void TraceRecorder::ForgetSend(Rank to, const Tag& tag) {
  MutexLock lock(mutex_);
  sends_.erase({to, tag});
}

void TraceRecorder::Receive(Rank from, const Tag& tag) {
  const Time now = Clock::now();
  MutexLock lock(mutex_);
  Record(Message(TraceKind::kReceived, from, tag, now, now));
}

NodeTrace TraceRecorder::Take(Rank rank) {
  MutexLock lock(mutex_);
  std::rotate(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(next_),
              records_.end());
  next_ = 0;
  return {.rank = rank,
          .clock = BootId(),
          .start = Nanoseconds(start_),
          .dropped = std::exchange(dropped_, 0),
          .records = std::exchange(records_, {})};
}

}  // namespace grapevine
