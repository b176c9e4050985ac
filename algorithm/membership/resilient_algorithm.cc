#include "algorithm/membership/resilient_algorithm.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "algorithm/host.h"
#include "algorithm/state_visitor.h"
#include "base/status.h"

namespace grapevine {
namespace {

// The state of an algorithm's instance on its way to the next one, which begins where it rests:
// first the old one shows what it keeps, then the new one what it has begun with, to be overwritten
// (Algorithm::VisitState).
class CarriedState final : public StateVisitor {
 public:
  // `host` outlives it, and is that of both instances.
  explicit CarriedState(Host* host) : host_(host) {}

  // What is shown from now on is the new instance's, and takes what the old one had; whose vectors
  // are dropped.
  void HandOver() { taken_ = true; }
  // Whether the two have shown the same. An error names what they have not, or what is still on its
  // way to the old one.
  absl::Status Finish();

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  // Every view begins with weights that sum to its size: had the lost taken theirs along, the rest
  // would step too far for good (gossip/sgp.cc: lr / w_i).
  void Weight(std::string_view, double*) override {}
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;

 private:
  template <typename T>
  void Carry(std::map<std::string, T, std::less<>>& kept, std::string_view name, T* value);

  Host* const host_;
  bool taken_ = false;
  std::map<std::string, Vec, std::less<>> vectors_;
  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, int64_t, std::less<>> rounds_;
  absl::Status status_;
};

template <typename T>
void CarriedState::Carry(std::map<std::string, T, std::less<>>& kept, std::string_view name,
                         T* value) {
  if (!taken_) {
    kept.emplace(name, *value);
    return;
  }
  const auto found = kept.find(name);
  if (found == kept.end()) {
    status_.Update(
        absl::InternalError(absl::StrCat("the last view's state has no ", std::string(name))));
    return;
  }
  *value = found->second;
  kept.erase(found);
}

void CarriedState::Vector(std::string_view name, Vec vector) {
  Vec carried = vector;
  Carry(vectors_, name, &carried);
  if (!taken_ || carried == vector) return;
  const int64_t size = host_->SizeOf(vector);
  const Term old{1.0, {carried, 0, size}};
  if (size > 0) host_->Combine({vector, 0, size}, {&old, 1});
  host_->Drop(carried);
}

void CarriedState::Number(std::string_view name, double* number) { Carry(numbers_, name, number); }

void CarriedState::Rounds(std::string_view name, int64_t* rounds) { Carry(rounds_, name, rounds); }

void CarriedState::Message(std::string_view name, const StateMessage&) {
  status_.Update(absl::UnimplementedError(
      absl::StrCat(std::string(name),
                   " is on its way from one view to the next: this algorithm cannot go on "
                   "when members are lost")));
}

absl::Status CarriedState::Finish() {
  if (!status_.ok()) return status_;
  if (vectors_.empty() && numbers_.empty() && rounds_.empty()) return absl::OkStatus();
  const std::string& left = !vectors_.empty()   ? vectors_.begin()->first
                            : !numbers_.empty() ? numbers_.begin()->first
                                                : rounds_.begin()->first;
  return absl::InternalError(absl::StrCat("the next view's state has no ", left));
}

}  // namespace

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
