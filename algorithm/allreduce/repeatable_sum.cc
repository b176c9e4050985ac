#include "algorithm/allreduce/repeatable_sum.h"

#include <utility>

namespace grapevine {

RepeatableSum::RepeatableSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel,
                             Rank rank, Rank members, LocalSteps steps)
    : sum_(std::move(buckets), first_channel, steps),
      last_(first_channel + sum_.channels(), rank, members) {}

void RepeatableSum::Start(int64_t elements, Round round, std::optional<Round> latest, Host& host) {
  elements_ = elements;
  round_ = round;
  keeps_ = latest.has_value();
  behind_ = sum_.IsBehind(round, latest.value_or(round));
  if (!behind_) sum_.Prepare(elements_, host, round_);
}

std::optional<KeptSum> RepeatableSum::TakeAnswer(Host& host) {
  if (!behind_ || last_.answer() == LastSum::Answer::kNone) return std::nullopt;
  behind_ = false;
  const bool known = last_.answer() == LastSum::Answer::kSum;
  sum_.Prepare(elements_, host, known ? round_ + 1 : round_);
  return last_.Take();
}

void RepeatableSum::End(const KeptSum& sum, Host& host) {
  if (keeps_) {
    last_.Keep(sum, host);
  } else {
    host.Drop(sum.vector);
  }
}

absl::Status RepeatableSum::On(const Received& event, Host& host) {
  return last_.Owns(event.tag) ? last_.On(event) : sum_.On(event, host);
}

absl::Status RepeatableSum::On(const Left& event, Host& host) {
  return last_.On(event) ? absl::OkStatus() : sum_.On(event, host);
}

absl::Status RepeatableSum::On(const Sent& event, Host& host) {
  return last_.On(event, host) ? absl::OkStatus() : sum_.On(event, host);
}

absl::Status RepeatableSum::On(const Lost& event, Host& host) {
  return last_.Owns(event.tag) ? last_.On(event, host) : sum_.On(event);
}

absl::Status RepeatableSum::On(const Offered& event, Host& host) {
  if (!keeps_) return CheckForeseen(event);
  // A message of the sum that is offered is posted for when its turn comes.
  if (last_.Owns(event.tag)) last_.On(event, host);
  return absl::OkStatus();
}

void RepeatableSum::GiveUp(Host& host) {
  sum_.GiveUp(host);
  last_.GiveUp(host);
}

void RepeatableSum::Close(Host& host) {
  sum_.End(host);
  last_.Close(host);
}

std::vector<Waiting> RepeatableSum::waiting_for() const {
  std::vector<Waiting> waiting = last_.waiting_for();
  if (behind_) return waiting;
  const std::vector<Waiting> of_sum = sum_.waiting_for();
  waiting.insert(waiting.end(), of_sum.begin(), of_sum.end());
  return waiting;
}

}  // namespace grapevine
