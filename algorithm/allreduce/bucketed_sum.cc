#include "algorithm/allreduce/bucketed_sum.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

absl::Status NotOnItsWay(SendId id) {
  return absl::InternalError(
      absl::StrCat("send ", id.id, " was reported; no bucket has it on its way"));
}

}  // namespace

BucketedSum::BucketedSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel,
                         LocalSteps steps)
    : first_channel_(first_channel), parts_of_bucket_(buckets.front().size()) {
  for (AllreduceSchedules& bucket : buckets) {
    CHECK_EQ(bucket.size(), parts_of_bucket_) << "a bucket with other parts";
    for (auto& schedule : bucket) {
      const auto channel = static_cast<uint16_t>(first_channel + parts_.size());
      parts_.push_back({std::make_unique<Collective>(std::move(schedule), channel, steps)});
    }
  }
  begun_ = parts_.size();
}

void BucketedSum::Prepare(int64_t elements, Host& host, Round round) {
  const auto count = static_cast<int64_t>(parts_.size());
  const auto of_bucket = static_cast<int64_t>(parts_of_bucket_);
  for (int64_t i = 0; i < count; ++i) {
    Part& part = parts_[i];
    const int64_t last = i - i % of_bucket + of_bucket - 1;  // of its bucket
    part.begin = elements * (count - 1 - i) / count;
    part.end = elements * (count - i) / count;
    part.bucket = elements * (count - 1 - last) / count;
    part.sum->Prepare(part.end - part.begin, host, round);
    // Where there are fewer elements than buckets, some are empty.
    if (i == last && part.begin > 0 && part.begin < part.end) cuts_.push_back(part.begin);
  }
}

void BucketedSum::Begin(Vec data) {
  data_ = data;
  begun_ = 0;
}

void BucketedSum::OnReady(int64_t from, Host& host) {
  for (; begun_ < parts_.size() && parts_[begun_].bucket >= from; ++begun_) {
    const Part& part = parts_[begun_];
    part.sum->Begin({data_, part.begin, part.end - part.begin}, host);
  }
}

absl::Status BucketedSum::On(const Received& event, Host& host) {
  const int index = event.tag.channel - first_channel_;
  if (index >= 0 && index < static_cast<int>(parts_.size())) {
    return parts_[index].sum->On(event, host);
  }
  return absl::InternalError(absl::StrCat("a message of rank ", event.from, " came on channel ",
                                          event.tag.channel, ", where no bucket is summed"));
}

absl::Status BucketedSum::On(const Left& event, Host& host) {
  for (const Part& part : parts_) {
    if (part.sum->On(event, host)) return absl::OkStatus();
  }
  return NotOnItsWay(event.id);
}

absl::Status BucketedSum::On(const Sent& event, Host& host) {
  for (const Part& part : parts_) {
    if (part.sum->On(event, host)) return absl::OkStatus();
  }
  return NotOnItsWay(event.id);
}

bool BucketedSum::summed() const {
  return begun_ == parts_.size() &&
         std::ranges::all_of(parts_, [](const Part& part) { return part.sum->summed(); });
}

bool BucketedSum::idle() const {
  return begun_ == parts_.size() &&
         std::ranges::all_of(parts_, [](const Part& part) { return part.sum->idle(); });
}

std::vector<Waiting> BucketedSum::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Part& part : parts_) {
    // One that is done waits for the others.
    if (part.sum->summed() && !summed()) continue;
    const std::vector<Waiting> of_part = part.sum->waiting_for();
    waiting.insert(waiting.end(), of_part.begin(), of_part.end());
  }
  return waiting;
}

std::vector<Rank> BucketedSum::Peers() const {
  std::set<Rank> peers;
  for (size_t part = 0; part < parts_of_bucket_; ++part) {
    const std::vector<Rank> of_part = parts_[part].sum->Peers();
    peers.insert(of_part.begin(), of_part.end());
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
