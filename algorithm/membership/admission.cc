#include "algorithm/membership/admission.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

enum Step : uint32_t { kShare, kMean };

Tag AdmissionTag(uint32_t epoch, Step step) {
  return {.channel = kAdmissionChannel, .index = epoch, .step = step};
}

absl::Status Unforeseen(Member from, const Tag& tag) {
  return absl::InternalError(
      absl::StrCat("rank ", from, ": ", Describe(tag), " is not awaited by this node's admission"));
}

}  // namespace

ReplicaRange AdmissionPieces::Of(size_t veteran, int64_t replica_size) const {
  const auto count = static_cast<int64_t>(veterans_.size());
  const auto i = static_cast<int64_t>(veteran);
  const int64_t begin = replica_size / count * i + std::min(replica_size % count, i);
  return {begin, replica_size / count + (i < replica_size % count ? 1 : 0)};
}

Donation::Donation(View view, Member self)
    : view_(std::move(view)), self_(self), pieces_(view_), newcomers_(view_.newcomers) {}

void Donation::OnView(const View& later) {
  std::erase_if(newcomers_, [&later](Member newcomer) { return !later.RankOf(newcomer); });
}

Tag Donation::ShareTag() const { return AdmissionTag(view_.epoch, kShare); }

void Donation::Begin(Vec replica, Host& host) {
  const std::vector<Member>& veterans = pieces_.veterans();
  for (size_t i = 0; i < veterans.size(); ++i) {
    const ReplicaRange range = pieces_.Of(i, host.replica_size());
    if (range.size == 0) continue;
    const Part part{replica, range.offset, range.size};
    if (veterans[i] != self_) {
      sends_.insert(host.Send(veterans[i], ShareTag(), part));
      continue;
    }
    piece_size_ = range.size;
    piece_ = host.New(range.size, "a piece of the mean for a newcomer");
    const Term own{1.0, part};
    host.Combine(Whole(piece_), {&own, 1});
    for (const Member from : veterans) {
      if (from == self_) continue;
      const Vec share = host.New(range.size, "a veteran's share of a newcomer's replica");
      shares_.push_back({from, share});
      host.Post(from, ShareTag(), Whole(share), view_.from);
    }
  }
  SendMeanIfComplete(host);
}

absl::StatusOr<Donation::Share*> Donation::End(Member from, Tag tag) {
  const auto share = std::ranges::find(shares_, from, &Share::from);
  if (tag != ShareTag() || share == shares_.end() || !std::exchange(share->posted, false)) {
    return Unforeseen(from, tag);
  }
  return &*share;
}

absl::Status Donation::On(const Received& event, Host& host) {
  RETURN_IF_ERROR(End(event.from, event.tag).status());
  SendMeanIfComplete(host);
  return absl::OkStatus();
}

absl::Status Donation::On(const Lost& event, Host& host) {
  ASSIGN_OR_RETURN(Share* const share, End(event.from, event.tag));
  host.Drop(std::exchange(share->vector, Vec{}));
  SendMeanIfComplete(host);
  return absl::OkStatus();
}

// Sums in the order of the veterans, whatever the order in which their shares arrived.
void Donation::SendMeanIfComplete(Host& host) {
  if (!piece_ || std::ranges::any_of(shares_, &Share::posted)) return;
  std::vector<Term> terms{{1.0, Whole(piece_)}};
  for (const Share& share : shares_) {
    if (share.vector) terms.push_back({1.0, Whole(share.vector)});
  }
  for (Term& term : terms) term.weight = 1.0 / static_cast<double>(terms.size());
  const Vec mean = std::exchange(piece_, Vec{});
  host.Combine(Whole(mean), terms);
  for (const Member newcomer : newcomers_) {
    sends_.insert(host.Send(newcomer, AdmissionTag(view_.epoch, kMean), Whole(mean)));
  }
  host.Drop(mean);
  for (const Share& share : shares_) {
    if (share.vector) host.Drop(share.vector);
  }
  shares_.clear();
}

std::vector<Waiting> Donation::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Share& share : shares_) {
    if (share.posted) waiting.push_back({share.from, ShareTag()});
  }
  return waiting;
}

void Reception::Begin(Host& host) {
  replica_ = host.New(host.replica_size(), "the replica to begin with");
  const std::vector<Member>& veterans = pieces_.veterans();
  for (size_t i = 0; i < veterans.size(); ++i) {
    const ReplicaRange range = pieces_.Of(i, host.replica_size());
    if (range.size == 0) continue;
    awaited_.insert(veterans[i]);
    host.Post(veterans[i], AdmissionTag(epoch_, kMean), Part{replica_, range.offset, range.size},
              from_);
  }
}

absl::Status Reception::On(const Received& event) {
  if (event.tag != AdmissionTag(epoch_, kMean) || awaited_.erase(event.from) == 0) {
    return Unforeseen(event.from, event.tag);
  }
  return absl::OkStatus();
}

absl::Status Reception::On(const Lost& event) const {
  return WithFailure(absl::AbortedError(absl::StrCat(
                         "cannot come in: rank ", event.from,
                         ", which was to send it a part of the model to begin ", "with in round ",
                         from_, ", was lost; start this node again")),
                     Failure::kPeerLost);
}

std::vector<Waiting> Reception::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Member member : awaited_) waiting.push_back({member, AdmissionTag(epoch_, kMean)});
  return waiting;
}

}  // namespace grapevine
