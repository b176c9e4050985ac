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

// The state of an algorithm's instance on its way to the next one, which begins where the old one
// rests. First the old instance shows what it keeps, then the new one shows what it has begun with,
// to be overwritten (Algorithm::VisitState).
class CarriedState final : public StateVisitor {
 public:
  // `host` must outlive this object, and is the host of both instances.
  explicit CarriedState(Host* host) : host_(host) {}

  // Says that everything shown from this call on belongs to the new instance and takes the values
  // of the old one. The old instance's vectors are dropped.
  void HandOver() { taken_ = true; }
  // Returns an error unless the two instances have shown the same names. It names what one of them
  // lacks, or a message that is still on its way to the old one.
  absl::Status Finish();

  void Vector(std::string_view name, Vec vector) override;
  void Number(std::string_view name, double* number) override;
  // Carries nothing: every view begins with weights that sum to its size. If lost members took
  // their weights along, the remaining ones would step too far for good (gossip/sgp.cc: lr / w_i).
  void Weight(std::string_view, double*) override {}
  void Rounds(std::string_view name, int64_t* rounds) override;
  void Message(std::string_view name, const StateMessage& message) override;
  void Kept(KeptSum* sum) override { std::swap(*sum, kept_); }
  void Stepped(bool* stepped) override { std::swap(*stepped, stepped_); }

 private:
  template <typename T>
  void Carry(std::map<std::string, T, std::less<>>& kept, std::string_view name, T* value);

  Host* const host_;
  bool taken_ = false;
  std::map<std::string, Vec, std::less<>> vectors_;
  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, int64_t, std::less<>> rounds_;
  KeptSum kept_;
  bool stepped_ = false;
  Vec replica_;
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
  if (name == "replica") replica_ = vector;
  if (!taken_ || carried == vector) return;
  const int64_t size = host_->SizeOf(vector);
  const Term old{1.0, {carried, 0, size}};
  if (size > 0) host_->Combine({vector, 0, size}, {&old, 1});
  host_->Drop(carried);
}

void CarriedState::Number(std::string_view name, double* number) { Carry(numbers_, name, number); }

void CarriedState::Rounds(std::string_view name, int64_t* rounds) { Carry(rounds_, name, rounds); }

// No message is on its way to an instance that has settled. The next instance begins as if this
// node's replica were on its way from every other node, in place of theirs.
void CarriedState::Message(std::string_view name, const StateMessage& message) {
  if (!taken_) {
    status_.Update(absl::InternalError(
        absl::StrCat(std::string(name), " is on its way from one view to the next")));
    return;
  }
  const int64_t size = host_->SizeOf(message.vector);
  const Term own{1.0, {replica_, 0, size}};
  if (size > 0) host_->Combine({message.vector, 0, size}, {&own, 1});
}

absl::Status CarriedState::Finish() {
  if (!status_.ok()) return status_;
  if (vectors_.empty() && numbers_.empty() && rounds_.empty()) return absl::OkStatus();
  const std::string& left = !vectors_.empty()   ? vectors_.begin()->first
                            : !numbers_.empty() ? numbers_.begin()->first
                                                : rounds_.begin()->first;
  return absl::InternalError(absl::StrCat("the next view's state has no ", left));
}

// The number of channels of an instance that gives way, and the number of views that have channels
// of their own before channels are used again. All channels are below those of the averaged model
// (node/runner/model_assembly.h).
constexpr int kChannels = 64;
constexpr int kViews = 512;

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
  } else if (const auto* offered = std::get_if<Offered>(&event); offered && gives_way()) {
    RETURN_IF_ERROR(OnOffer(*offered));
  } else if (const auto* start = std::get_if<Start>(&event)) {
    RETURN_IF_ERROR(OnStart(*start));
  } else {
    ASSIGN_OR_RETURN(const bool taken, OnAdmission(event));
    if (!taken) RETURN_IF_ERROR(Forward(event));
    EndDonations();
  }
  if (reception_ && reception_->complete()) RETURN_IF_ERROR(BeginFirstView());
  RETURN_IF_ERROR(Advance());
  while (MayBeginNextView()) {
    RETURN_IF_ERROR(BeginNextView());
    RETURN_IF_ERROR(Advance());
  }
  const bool done = instance_ && (gives_way() ? limit_ : round()) >= run_limit_ && !given_up_;
  if (done && resting_ && donations_.empty()) host.Rest(*resting_);
  return absl::OkStatus();
}

absl::Status ResilientAlgorithm::OnStart(const Start& event) {
  limit_ = event.round;
  if (event.joins == nullptr) {
    started_ = true;
    Start first = event;
    first.latest = event.round;
    RETURN_IF_ERROR(Forward(first));
    GiveUpIfAsked();
    return absl::OkStatus();
  }
  instance_.reset();
  view_ = *event.joins;
  asked_ = agreed_ = view_.ballot;
  if (!view_.IsNewcomer(options_.self)) {
    return absl::InternalError(
        absl::StrCat("member ", options_.self, " does not come in with view ", view_.epoch));
  }
  host_->BeginView(view_, Vec{});
  reception_.emplace(view_).Begin(*host_);
  return absl::OkStatus();
}

void ResilientAlgorithm::BeginDonation() {
  if (view_.newcomers.empty()) return;
  Donation& donation = donations_.emplace_back(view_, options_.self);
  for (const View& later : next_) donation.OnView(later);
  donation.Begin(*resting_, *host_);
}

void ResilientAlgorithm::EndDonations() {
  std::erase_if(donations_, [](const Donation& donation) { return donation.over(); });
}

std::list<Donation>::iterator ResilientAlgorithm::FindDonation(const Tag& tag) {
  return std::ranges::find_if(
      donations_, [&tag](const Donation& donation) { return donation.epoch() == tag.index; });
}

absl::StatusOr<bool> ResilientAlgorithm::OnAdmission(const Event& event) {
  if (gives_way()) return false;  // such an algorithm takes no newcomers
  const auto take = [this](const auto& message) -> absl::StatusOr<bool> {
    if (!IsOfAdmission(message.tag)) return false;
    if (reception_ && message.tag.index == view_.epoch) {
      RETURN_IF_ERROR(reception_->On(message));
      return true;
    }
    const auto donation = FindDonation(message.tag);
    if (donation == donations_.end()) {
      return absl::InternalError(absl::StrCat("rank ", message.from, ": ", Describe(message.tag),
                                              " is of no admission that is under way here"));
    }
    RETURN_IF_ERROR(donation->On(message, *host_));
    return true;
  };
  if (const auto* received = std::get_if<Received>(&event)) return take(*received);
  if (const auto* lost = std::get_if<Lost>(&event)) return take(*lost);
  const auto* left = std::get_if<Left>(&event);
  const auto* sent = std::get_if<Sent>(&event);
  if (left == nullptr && sent == nullptr) return false;
  const SendId id = left != nullptr ? left->id : sent->id;
  const auto donation = std::ranges::find_if(
      donations_, [id](const Donation& donation) { return donation.Sends(id); });
  if (donation == donations_.end()) return false;
  if (sent != nullptr) donation->On(*sent);
  return true;
}

absl::Status ResilientAlgorithm::BeginFirstView() {
  received_ = reception_->Take();
  reception_.reset();
  ASSIGN_OR_RETURN(instance_, options_.make(view_, *view_.RankOf(options_.self)));
  started_ = true;
  RETURN_IF_ERROR(Forward(Start{.round = view_.from, .latest = view_.from}));
  if (received_) host_->Drop(*std::exchange(received_, std::nullopt));
  return absl::OkStatus();
}

// A request for the whole received replica hands it over to the instance.
Vec ResilientAlgorithm::InitialReplica(ReplicaRange range) {
  if (carries_) return host_->New(range.size, "the replica of the view before");
  if (!received_) return host_->InitialReplica(range);
  if (range.size == host_->replica_size()) return *std::exchange(received_, std::nullopt);
  const Vec part = host_->New(range.size, "the replica to begin with");
  const Term received{1.0, {*received_, range.offset, range.size}};
  host_->Combine({part, 0, range.size}, {&received, 1});
  return part;
}

absl::Status ResilientAlgorithm::OnPrepare(const Prepare& event) {
  asked_ = std::max(asked_, event.ballot);
  GiveUpIfAsked();
  const Round done = started_ && gives_way() ? instance_->rests_in() : limit_;
  host_->Promise(event.ballot, done - 1);
  return absl::OkStatus();
}

void ResilientAlgorithm::GiveUpIfAsked() {
  if (!gives_way() || !started_ || given_up_ || (!held() && next_.empty())) return;
  given_up_ = true;
  resting_.reset();
  instance_->GiveUp(*this);
  if (instance_->takes_leave()) return;
  for (const auto& [message, offer] : std::exchange(offers_, {})) {
    if (ViewsAhead(message.second) > 0) {
      offers_.emplace(message, offer);
    } else {
      host_->Decline(message.first, message.second);
    }
  }
}

absl::Status ResilientAlgorithm::OnView(const View& view) {
  const View& last = latest_view();
  const Round begun = gives_way() ? instance_->rests_in() : limit_;
  if (view.epoch <= last.epoch || view.from < begun || !view.RankOf(options_.self)) {
    return absl::InternalError(
        absl::StrCat("view ", view.epoch, ", from round ", view.from, " on and of ", view.size(),
                     " members, cannot follow view ", last.epoch, " at member ", options_.self,
                     ", which may go through the rounds before ", begun));
  }
  next_.push_back(view);
  agreed_ = std::max(agreed_, view.ballot);
  std::erase_if(offers_, [&](const auto& offer) { return !view.RankOf(offer.first.first); });
  GiveUpIfAsked();
  for (Donation& donation : donations_) donation.OnView(view);
  return absl::OkStatus();
}

absl::Status ResilientAlgorithm::OnOffer(const Offered& offer) {
  if (!latest_view().RankOf(offer.from)) return absl::OkStatus();  // it ends there
  const int ahead = ViewsAhead(offer.tag);
  if (ahead < 0 || (ahead == 0 && given_up_ && !instance_->takes_leave())) {
    host_->Decline(offer.from, offer.tag);
    return absl::OkStatus();
  }
  offers_.emplace(std::pair(offer.from, offer.tag), offer);
  return ahead == 0 ? Forward(offer) : absl::OkStatus();
}

absl::Status ResilientAlgorithm::HearOffers() {
  const auto offers = offers_;  // a copy, as some are answered in the loop
  for (const auto& [message, offer] : offers) {
    const int ahead = ViewsAhead(message.second);
    if (ahead > 0 || !offers_.contains(message)) continue;
    if (ahead == 0) {
      RETURN_IF_ERROR(Forward(offer));
      continue;
    }
    offers_.erase(message);
    host_->Decline(message.first, message.second);
  }
  return absl::OkStatus();
}

// A veteran may be held up by a newcomer that has not begun, because it waits for the veteran's
// piece.
bool ResilientAlgorithm::MustHear(const Event& event) const {
  if (!gives_way()) {
    const auto* received = std::get_if<Received>(&event);
    const auto* lost = std::get_if<Lost>(&event);
    return (received != nullptr && IsOfAdmission(received->tag)) ||
           (lost != nullptr && IsOfAdmission(lost->tag));
  }
  return given_up_ || std::holds_alternative<ViewChanged>(event) ||
         std::holds_alternative<Offered>(event) || std::holds_alternative<Left>(event) ||
         std::holds_alternative<Sent>(event);
}

Tag ResilientAlgorithm::OfView(Tag tag) const {
  if (!gives_way()) return tag;
  tag.channel += static_cast<uint16_t>(view_.epoch % kViews * kChannels);
  return tag;
}

Tag ResilientAlgorithm::OfInstance(Tag tag) const {
  if (gives_way()) tag.channel %= kChannels;
  return tag;
}

int ResilientAlgorithm::ViewsAhead(Tag tag) const {
  const int views = (tag.channel / kChannels - static_cast<int>(view_.epoch % kViews) + kViews);
  return (views + kViews / 2) % kViews - kViews / 2;
}

absl::Status ResilientAlgorithm::Advance() {
  if (!started_ || held() || given_up_) return absl::OkStatus();
  // The instance posts for `window` rounds, and no post may have to wait for the instance's limit.
  const Round far = gives_way() ? run_limit_ : round() + options_.window + 1;
  const Round wanted = next_.empty() ? std::min(run_limit_, far) : next_.front().from;
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
    here.tag = OfInstance(received->tag);
    return instance_->On(here, *this);
  }
  if (const auto* offered = std::get_if<Offered>(&event)) {
    Offered here = *offered;
    ASSIGN_OR_RETURN(here.from, RankOf(offered->from));
    here.tag = OfInstance(offered->tag);
    return instance_->On(here, *this);
  }
  if (const auto* lost = std::get_if<Lost>(&event)) {
    ASSIGN_OR_RETURN(const Rank from, RankOf(lost->from));
    return instance_->On(Lost{from, OfInstance(lost->tag)}, *this);
  }
  return instance_->On(event, *this);
}

bool ResilientAlgorithm::MayBeginNextView() const {
  if (!resting_ || next_.empty()) return false;
  if (gives_way()) return given_up_ && !held();
  // At the run's end the model is what it was at the last boundary.
  return instance_->round() == next_.front().from && instance_->round() < run_limit_;
}

absl::Status ResilientAlgorithm::BeginNextView() {
  CarriedState carried(this);
  resting_ = instance_->Settle(*resting_, *this);
  RETURN_IF_ERROR(instance_->VisitState(carried, *this));
  limit_ = round();
  do {  // after an instance that gave up, only the last of these views needs an instance
    view_ = std::move(next_.front());
    next_.pop_front();
    host_->BeginView(view_, *resting_);
    BeginDonation();
  } while (given_up_ && !instance_->takes_leave() && !next_.empty());
  ASSIGN_OR_RETURN(instance_, options_.make(view_, *view_.RankOf(options_.self)));
  given_up_ = false;
  carried.HandOver();
  carries_ = true;
  const absl::Status begun =
      Forward(Start{.round = limit_, .state = &carried, .latest = view_.from});
  carries_ = false;
  RETURN_IF_ERROR(begun);
  RETURN_IF_ERROR(carried.Finish());
  RETURN_IF_ERROR(HearOffers());
  GiveUpIfAsked();
  return absl::OkStatus();
}

// Shows the messages of an instance as those of members, with the tags of the view.
class ResilientAlgorithm::StateOfMember final : public StateVisitor {
 public:
  // `member` and `visitor` must outlive this object.
  StateOfMember(const ResilientAlgorithm& member, StateVisitor& visitor)
      : member_(member), visitor_(visitor) {}

  void Vector(std::string_view name, Vec vector) override { visitor_.Vector(name, vector); }
  void Number(std::string_view name, double* number) override { visitor_.Number(name, number); }
  void Weight(std::string_view name, double* weight) override { visitor_.Weight(name, weight); }
  void Rounds(std::string_view name, int64_t* rounds) override { visitor_.Rounds(name, rounds); }
  void Message(std::string_view name, const StateMessage& message) override {
    StateMessage of_member = message;
    of_member.from = member_.MemberOf(message.from);
    of_member.tag = member_.OfView(message.tag);
    visitor_.Message(name, of_member);
  }
  void Kept(KeptSum* sum) override { visitor_.Kept(sum); }
  void Stepped(bool* stepped) override { visitor_.Stepped(stepped); }

 private:
  const ResilientAlgorithm& member_;
  StateVisitor& visitor_;
};

absl::Status ResilientAlgorithm::VisitState(StateVisitor& state, Host& host) {
  host_ = &host;
  if (!instance_) return absl::FailedPreconditionError("this node has no state yet: it comes in");
  StateOfMember own(*this, state);
  return instance_->VisitState(own, *this);
}

std::vector<Waiting> ResilientAlgorithm::waiting_for() const {
  if (!instance_) return reception_ ? reception_->waiting_for() : std::vector<Waiting>();
  std::vector<Waiting> waiting = instance_->waiting_for();
  for (Waiting& message : waiting) message.peer = MemberOf(message.peer);
  if (!resting_) return waiting;
  for (const Donation& donation : donations_) {
    for (const Waiting& message : donation.waiting_for()) waiting.push_back(message);
  }
  return waiting;
}

std::vector<Rank> ResilientAlgorithm::Peers(Round from, Round to) const {
  if (!instance_) return view_.Veterans();
  std::vector<Rank> peers = instance_->Peers(from, to);
  for (Rank& peer : peers) peer = MemberOf(peer);
  return peers;
}

}  // namespace grapevine
