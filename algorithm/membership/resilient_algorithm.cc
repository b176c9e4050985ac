#include "algorithm/membership/resilient_algorithm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/membership/carried_state.h"
#include "base/status_macros.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<ResilientAlgorithm>> ResilientAlgorithm::Make(Options options) {
  const std::optional<Rank> rank = options.first.RankOf(options.self);
  if (!rank) {
    return absl::InternalError(absl::StrCat("member ", options.self, " is not in its first view"));
  }
  std::unique_ptr<ResilientAlgorithm> made(new ResilientAlgorithm(std::move(options)));
  ASSIGN_OR_RETURN(made->instance_, made->options_.make(made->view_, *rank));
  return made;
}

absl::Status ResilientAlgorithm::On(const Event& event, Host& host) {
  host_ = &host;
  if (const auto* prepare = std::get_if<Prepare>(&event)) {
    RETURN_IF_ERROR(OnPrepare(*prepare));
  } else if (const auto* changed = std::get_if<ViewChanged>(&event)) {
    RETURN_IF_ERROR(OnView(*changed->view));
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    run_limit_ = std::max(run_limit_, limit->limit);
  } else {
    if (const auto* start = std::get_if<Start>(&event)) {
      started_ = true;
      limit_ = start->round;
    }
    RETURN_IF_ERROR(Forward(event));
  }
  RETURN_IF_ERROR(Advance());
  while (resting_ && !next_.empty() && instance_->round() == next_.front().from) {
    RETURN_IF_ERROR(BeginNextView());
    RETURN_IF_ERROR(Advance());
  }
  if (resting_ && next_.empty() && instance_->round() >= run_limit_) host.Rest(*resting_);
  return absl::OkStatus();
}

absl::Status ResilientAlgorithm::OnPrepare(const Prepare& event) {
  asked_ = event.ballot;
  host_->Promise(event.ballot, limit_ - 1);
  return absl::OkStatus();
}

absl::Status ResilientAlgorithm::OnView(const View& view) {
  const View& last = next_.empty() ? view_ : next_.back();
  if (view.epoch <= last.epoch || view.from < limit_ || !view.RankOf(options_.self)) {
    return absl::InternalError(
        absl::StrCat("view ", view.epoch, ", from round ", view.from, " on and of ", view.size(),
                     " members, cannot follow view ", last.epoch, " at member ", options_.self,
                     ", which may go through the rounds before ", limit_));
  }
  next_.push_back(view);
  agreed_ = view.ballot;
  return absl::OkStatus();
}

absl::Status ResilientAlgorithm::Advance() {
  if (!started_ || held()) return absl::OkStatus();
  // The instance posts for `window` rounds, of which none is to wait for its limit.
  const Round wanted =
      next_.empty() ? std::min(run_limit_, round() + options_.window + 1) : next_.front().from;
  if (wanted <= limit_) return absl::OkStatus();
  limit_ = wanted;
  return Forward(RoundLimit{limit_});
}

absl::StatusOr<Rank> ResilientAlgorithm::RankOf(Member member) const {
  const std::optional<Rank> rank = view_.RankOf(member);
  if (rank) return *rank;
  return absl::InternalError(
      absl::StrCat("a message of member ", member, ", which is not in view ", view_.epoch));
}

absl::Status ResilientAlgorithm::Forward(const Event& event) {
  resting_.reset();
  if (const auto* received = std::get_if<Received>(&event)) {
    Received here = *received;
    ASSIGN_OR_RETURN(here.from, RankOf(received->from));
    return instance_->On(here, *this);
  }
  if (const auto* offered = std::get_if<Offered>(&event)) {
    Offered here = *offered;
    ASSIGN_OR_RETURN(here.from, RankOf(offered->from));
    return instance_->On(here, *this);
  }
  if (const auto* lost = std::get_if<Lost>(&event)) {
    ASSIGN_OR_RETURN(const Rank from, RankOf(lost->from));
    return instance_->On(Lost{from, lost->tag}, *this);
  }
  return instance_->On(event, *this);
}

absl::Status ResilientAlgorithm::BeginNextView() {
  CarriedState carried(this);
  RETURN_IF_ERROR(instance_->VisitState(carried, *this));
  view_ = std::move(next_.front());
  next_.pop_front();
  ASSIGN_OR_RETURN(instance_, options_.make(view_, *view_.RankOf(options_.self)));
  carried.HandOver();
  RETURN_IF_ERROR(Forward(Start{.round = view_.from, .state = &carried}));
  return carried.Finish();
}

absl::Status ResilientAlgorithm::VisitState(StateVisitor& state, Host& host) {
  host_ = &host;
  return instance_->VisitState(state, *this);
}

std::vector<Waiting> ResilientAlgorithm::waiting_for() const {
  std::vector<Waiting> waiting = instance_->waiting_for();
  for (Waiting& message : waiting) message.peer = MemberOf(message.peer);
  return waiting;
}

std::vector<Rank> ResilientAlgorithm::Peers(Round from, Round to) const {
  std::vector<Rank> peers = instance_->Peers(from, to);
  for (Rank& peer : peers) peer = MemberOf(peer);
  return peers;
}

}  // namespace grapevine
