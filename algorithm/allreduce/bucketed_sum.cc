#include "algorithm/allreduce/bucketed_sum.h"

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

BucketedSum::BucketedSum(Schedules schedules, uint16_t first_channel)
    : first_channel_(first_channel), begun_(schedules.size()) {
  for (auto& schedule : schedules) {
    const auto channel = static_cast<uint16_t>(first_channel + buckets_.size());
    buckets_.push_back({std::make_unique<Collective>(std::move(schedule), channel)});
  }
}

void BucketedSum::Prepare(int64_t elements, Host& host) {
  const auto count = static_cast<int64_t>(buckets_.size());
  for (int64_t i = 0; i < count; ++i) {
    Bucket& bucket = buckets_[i];
    bucket.begin = elements * (count - 1 - i) / count;
    bucket.end = elements * (count - i) / count;
    bucket.sum->Prepare(bucket.end - bucket.begin, host);
    // Where there are fewer elements than buckets, some are empty.
    if (bucket.begin > 0 && bucket.begin < bucket.end) cuts_.push_back(bucket.begin);
  }
}

void BucketedSum::Begin(Vec data) {
  data_ = data;
  begun_ = 0;
}

void BucketedSum::OnReady(int64_t from, Host& host) {
  for (; begun_ < buckets_.size() && buckets_[begun_].begin >= from; ++begun_) {
    const Bucket& bucket = buckets_[begun_];
    bucket.sum->Begin({data_, bucket.begin, bucket.end - bucket.begin}, host);
  }
}

absl::Status BucketedSum::On(const Received& event, Host& host) {
  const int index = event.tag.channel - first_channel_;
  if (index >= 0 && index < static_cast<int>(buckets_.size())) {
    return buckets_[index].sum->On(event, host);
  }
  return absl::InternalError(absl::StrCat("a message of rank ", event.from, " came on channel ",
                                          event.tag.channel, ", where no bucket is summed"));
}

absl::Status BucketedSum::On(const Left& event, Host& host) {
  for (const Bucket& bucket : buckets_) {
    if (bucket.sum->On(event, host)) return absl::OkStatus();
  }
  return NotOnItsWay(event.id);
}

absl::Status BucketedSum::On(const Sent& event) {
  for (const Bucket& bucket : buckets_) {
    if (bucket.sum->On(event)) return absl::OkStatus();
  }
  return NotOnItsWay(event.id);
}

bool BucketedSum::summed() const {
  return begun_ == buckets_.size() &&
         std::ranges::all_of(buckets_, [](const Bucket& bucket) { return bucket.sum->summed(); });
}

bool BucketedSum::idle() const {
  return begun_ == buckets_.size() &&
         std::ranges::all_of(buckets_, [](const Bucket& bucket) { return bucket.sum->idle(); });
}

std::vector<Waiting> BucketedSum::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Bucket& bucket : buckets_) {
    // One that is done waits for the others.
    if (bucket.sum->summed() && !summed()) continue;
    const std::vector<Waiting> of_bucket = bucket.sum->waiting_for();
    waiting.insert(waiting.end(), of_bucket.begin(), of_bucket.end());
  }
  return waiting;
}

std::vector<Rank> BucketedSum::Peers() const { return buckets_.front().sum->Peers(); }

}  // namespace grapevine
