#include "algorithm/averaging/allreduce_averaging.h"

#include <cstdint>
#include <utility>

#include "algorithm/local/replica_copy.h"

namespace grapevine {
namespace {

constexpr uint16_t kSumChannel = 1;

std::vector<AllreduceSchedules> Whole(AllreduceSchedules schedules) {
  std::vector<AllreduceSchedules> buckets;
  buckets.push_back(std::move(schedules));
  return buckets;
}

}  // namespace

AllreduceAveraging::AllreduceAveraging(LocalSteps steps, AllreduceSchedules schedules, Rank nodes,
                                       Sum place)
    : nodes_(nodes), place_(place), sum_(Whole(std::move(schedules)), kSumChannel, steps) {}

void AllreduceAveraging::Start(Round round, Vec, Host& host) {
  sum_.Prepare(host.replica_size(), host, round);
}

void AllreduceAveraging::Begin(Vec own, Host& host) {
  data_ = place_ == Sum::kOfACopy ? CopyOf(own, "the sum of the replicas", host) : own;
  sum_.Begin(data_);
  sum_.OnReady(0, host);
}

absl::StatusOr<Averaging::Terms> AllreduceAveraging::Take(Host& host) {
  return Terms{{1.0 / nodes_, host.Whole(data_)}};
}

void AllreduceAveraging::End(Host& host) {
  if (place_ == Sum::kOfACopy) host.Drop(data_);
}

std::vector<Waiting> AllreduceAveraging::waiting(bool resting) const {
  // Of a sum that is complete, those messages that its peers do not have.
  return resting == sum_.summed() ? sum_.waiting_for() : std::vector<Waiting>();
}

}  // namespace grapevine
