#include "algorithm/ring_allreduce.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace grapevine {

RingAllreduce::RingAllreduce(Rank rank, Rank size, uint16_t channel)
    : rank_(rank), size_(size), channel_(channel), absorbed_(steps()) {}

Rank RingAllreduce::SentChunk(int step) const {
  const int chunk = step < reduce_steps() ? rank_ - step : rank_ + 1 - (step - reduce_steps());
  return (chunk % size_ + size_) % size_;
}

Part RingAllreduce::Chunk(Vec vector, Rank chunk, const Host& host) const {
  const int64_t total = host.replica_size();
  const int64_t begin = total * chunk / size_;
  return {vector, begin, total * (chunk + 1) / size_ - begin};
}

Tag RingAllreduce::StepTag(Round sum, int step) const {
  return {channel_, sum, static_cast<uint32_t>(step)};
}

void RingAllreduce::PostReduceSteps(Round sum, Host& host) {
  for (int step = 0; step < reduce_steps(); ++step) {
    host.Post(left(), StepTag(sum, step), Chunk(scratch_, ReceivedChunk(step), host));
  }
}

void RingAllreduce::Prepare(Host& host) {
  if (size_ == 1) return;
  scratch_ = host.New(host.replica_size());
  PostReduceSteps(0, host);
}

void RingAllreduce::Begin(Vec data, Host& host) {
  ++sum_;
  data_ = data;
  absorbed_ = 0;
  if (size_ == 1) return;
  SendStep(0, host);
  AbsorbArrived(host);
}

void RingAllreduce::SendStep(int step, Host& host) {
  ++unsent_;
  host.Send(right(), StepTag(sum_, step), Chunk(data_, SentChunk(step), host));
}

absl::Status RingAllreduce::On(const Received& event, Host& host) {
  const bool of_this_sum = event.tag.round == sum_ && event.tag.step < unsigned(steps());
  const bool of_the_next = event.tag.round == sum_ + 1 && event.tag.step < unsigned(reduce_steps());
  if (event.from != left() || !(of_this_sum || of_the_next) || !arrived_.insert(event.tag).second) {
    return absl::InternalError(absl::StrCat("ring allreduce: step ", event.tag.step, " of sum ",
                                            event.tag.round, " came unposted from rank ",
                                            event.from, " in step ", absorbed_, " of sum ", sum_));
  }
  AbsorbArrived(host);
  return absl::OkStatus();
}

void RingAllreduce::AbsorbArrived(Host& host) {
  while (!summed() && arrived_.erase(StepTag(sum_, absorbed_)) > 0) Absorb(host);
}

// Takes in the message of the next step and sends what follows from it.
void RingAllreduce::Absorb(Host& host) {
  if (absorbed_ < reduce_steps()) {
    const Rank chunk = ReceivedChunk(absorbed_);
    const Part own = Chunk(data_, chunk, host);
    const Term terms[] = {{1.0, Chunk(scratch_, chunk, host)}, {1.0, own}};
    host.Combine(own, terms);
  }
  ++absorbed_;
  if (absorbed_ == reduce_steps()) PostReduceSteps(sum_ + 1, host);
  if (!summed()) SendStep(absorbed_, host);
}

absl::Status RingAllreduce::On(const Sent& event, Host& host) {
  if (unsent_ == 0) return absl::InternalError("ring allreduce: a chunk was reported sent twice");
  --unsent_;
  // A chunk that has left may be overwritten by its final value.
  const int step = static_cast<int>(event.tag.step);
  if (step < reduce_steps()) {
    host.Post(left(), StepTag(sum_, step + reduce_steps()), Chunk(data_, SentChunk(step), host));
  }
  return absl::OkStatus();
}

std::vector<Waiting> RingAllreduce::waiting_for() const {
  if (summed()) return {};
  return {{left(), StepTag(sum_, absorbed_)}};
}

std::vector<Rank> RingAllreduce::Peers() const {
  if (size_ == 1) return {};
  if (left() == right()) return {left()};
  return {std::min(left(), right()), std::max(left(), right())};
}

}  // namespace grapevine
