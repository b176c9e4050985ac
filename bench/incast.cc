#include "bench/incast.h"

#include <variant>

namespace grapevine {
namespace {

constexpr Tag kTag{};

}  // namespace

absl::Status Incast::On(const Event& event, Host& host) {
  if (std::holds_alternative<RoundLimit>(event)) return absl::OkStatus();
  if (!std::holds_alternative<Start>(event)) {
    --missing_;
  } else if (rank_ == 0) {
    missing_ = nodes_ - 1;
    for (Rank from = 1; from < nodes_; ++from) host.Post(from, kTag, Replicas(from, host), 0);
  } else {
    missing_ = 1;
    host.Send(0, kTag, Replicas(rank_, host));
  }
  if (missing_ == 0) host.Rest({});
  return absl::OkStatus();
}

std::vector<Rank> Incast::Peers(Round from, Round to) const {
  if (rank_ > 0) return {0};
  std::vector<Rank> senders;
  for (Rank sender = 1; sender < nodes_; ++sender) senders.push_back(sender);
  return senders;
}

Part Incast::Replicas(Rank count, Host& host) const {
  const int64_t elements = count * host.replica_size();
  return {host.New(elements, "replicas"), 0, elements};
}

}  // namespace grapevine
