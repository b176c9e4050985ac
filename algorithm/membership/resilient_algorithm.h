// An algorithm whose nodes go on when some of them are lost, and when others come in.
//
// An instance of the algorithm lives for one view (view.h): its ranks are positions in that view,
// and its graph and weights are those of the view's members. When another view follows, the
// instance goes through the rounds before that view, as those of all members do, without what lost
// members do not send (Lost), and rests. The next instance then begins from its state. Of all this,
// the algorithm knows only that a message may be lost: it must go on without that message.
//
// At any time, an instance may go only a few rounds ahead of the round that it is in. So an answer
// to Prepare needs no instance that stops at once, and a view begins at most that many rounds after
// the latest round that any instance is in.
//
// An instance that gives way at once (Algorithm::gives_way) goes as far as the run does, and gives
// up its round when it hears Prepare: it answers with the rounds that it has done. The view's first
// round is then the latest that any member has begun; each member begins in its own round and
// catches up from there by itself (Start::latest). Messages of instances that were given up must
// not meet those of the next ones: each view has channels of its own.
//
// A newcomer's first instance begins once the newcomer has received the mean of the others'
// replicas (admission.h), which takes the place of the initial replica. The optimizer's state is a
// fresh one.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_RESILIENT_ALGORITHM_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_RESILIENT_ALGORITHM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "algorithm/membership/admission.h"
#include "algorithm/view.h"

namespace grapevine {

class ResilientAlgorithm final : public Algorithm, private Host {
 public:
  // Makes an instance for the member with rank `rank` in `view`. Errors end the run.
  using MakeInstance =
      std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(const View& view, Rank rank)>;

  struct Options {
    Member self = 0;
    // The first view, of which `self` is a member. A node that comes in later begins with
    // Start::joins instead.
    View first;
    int window = 1;  // AlgorithmOptions::window of the instances
    MakeInstance make;
  };
  static absl::StatusOr<std::unique_ptr<ResilientAlgorithm>> Make(Options options);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return instance_ != nullptr && instance_->gives_way(); }
  bool takes_leave() const override { return instance_ != nullptr && instance_->takes_leave(); }
  // True for every event that makes an instance give way to the next one, and for what members that
  // are behind, or newcomers, need from this node.
  bool MustHear(const Event& event) const override;
  Round round() const override { return instance_ ? instance_->round() : view_.from; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

  // Returns the view that the node is in. The latest view agreed upon may begin in a later round.
  const View& view() const { return view_; }

 private:
  class StateOfMember;

  explicit ResilientAlgorithm(Options options)
      : options_(std::move(options)), view_(options_.first), limit_(view_.from) {}

  absl::Status OnStart(const Start& event);
  absl::Status OnPrepare(const Prepare& event);
  absl::Status OnView(const View& view);
  // Handles an offer. Where instances give way, everything is sent as an offer, and a node may hear
  // of an offer before it posts, after it has given up, or before it has begun the offer's view.
  absl::Status OnOffer(const Offered& offer);
  // Hands the instance the offers of its view, which has just begun; declines offers of earlier
  // views.
  absl::Status HearOffers();
  // Hands an event to the admission that it belongs to: a message of an admission, or the end of
  // one of its sends. Returns false for other events.
  absl::StatusOr<bool> OnAdmission(const Event& event);
  void BeginDonation();
  void EndDonations();  // removes those that are over
  std::list<Donation>::iterator FindDonation(const Tag& tag);
  // Begins the newcomer's first view, once its replica is complete.
  absl::Status BeginFirstView();
  // Hands an event to the instance, for which members become ranks.
  absl::Status Forward(const Event& event);
  absl::StatusOr<Rank> RankOf(Member member) const;
  // Moves the instance's limit as far as it may go.
  absl::Status Advance();
  absl::Status BeginNextView();
  // Makes the instance give up, if it gives way and a view is to follow.
  void GiveUpIfAsked();
  // Returns whether the instance rests and is to make way for the next one.
  bool MayBeginNextView() const;
  // Returns whether the limit must stay: from a Prepare until its view.
  bool held() const { return agreed_ < asked_; }
  // Returns the latest view agreed upon.
  const View& latest_view() const { return next_.empty() ? view_ : next_.back(); }

  Member MemberOf(Rank rank) const { return view_.members[rank]; }
  // Converts a tag of the instance to the tag of its view, and back.
  Tag OfView(Tag tag) const;
  Tag OfInstance(Tag tag) const;
  // Returns how many views ahead of the instance's view a message with this tag belongs.
  int ViewsAhead(Tag tag) const;

  // The Host of the instance, on top of the host of the current event:
  int64_t replica_size() const override { return host_->replica_size(); }
  ReplicaRange parameters() const override { return host_->parameters(); }
  Vec InitialReplica(ReplicaRange range) override;
  int64_t SizeOf(Vec vector) const override { return host_->SizeOf(vector); }
  Vec New(int64_t size, const char* role) override { return host_->New(size, role); }
  Vec NewOptimizerState(ReplicaRange range) override { return host_->NewOptimizerState(range); }
  void Drop(Vec vector) override { host_->Drop(vector); }
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override {
    host_->Gradient(at, into, round, cuts);
  }
  void Combine(Part out, std::span<const Term> terms) override { host_->Combine(out, terms); }
  void Clip(Part part, double limit) override { host_->Clip(part, limit); }
  void Step(const StepRequest& request) override { host_->Step(request); }
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) override {
    if (gives_way()) return Offer(to, tag, payload, note);
    return host_->Send(MemberOf(to), tag, payload, note);
  }
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) override {
    offers_.erase({MemberOf(from), OfView(tag)});
    host_->Post(MemberOf(from), OfView(tag), into, round, credit);
  }
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) override {
    return host_->Offer(MemberOf(to), OfView(tag), payload, note);
  }
  void Decline(Rank from, Tag tag) override {
    offers_.erase({MemberOf(from), OfView(tag)});
    host_->Decline(MemberOf(from), OfView(tag));
  }
  // Does nothing if the member is lost, as posts for its messages end by themselves.
  void Withdraw(Rank from, Tag tag) override {
    if (latest_view().RankOf(MemberOf(from))) host_->Withdraw(MemberOf(from), OfView(tag));
  }
  void GradientApplied(int64_t staleness) override { host_->GradientApplied(staleness); }
  void Promise(uint32_t ballot, Round round) override { host_->Promise(ballot, round); }
  void BeginView(const View& view, Vec model) override { host_->BeginView(view, model); }
  void Boundary(Round completed, Vec model) override { host_->Boundary(completed, model); }
  void Rest(Vec model) override { resting_ = model; }

  const Options options_;
  View view_;
  std::deque<View> next_;                // views agreed upon but not begun
  std::unique_ptr<Algorithm> instance_;  // none while a newcomer cannot begin
  std::optional<Reception> reception_;   // only until the newcomer can begin
  std::optional<Vec> received_;          // replica with which the first instance begins
  std::list<Donation> donations_;        // donations under way
  Host* host_ = nullptr;                 // only during an event
  Round limit_;                          // the instance's round limit
  Round run_limit_ = 0;                  // the run's round limit
  uint32_t asked_ = 0;                   // ballot of the last Prepare
  uint32_t agreed_ = 0;                  // ballot of the last view
  std::optional<Vec> resting_;           // the instance's model, while it is at rest
  bool started_ = false;
  bool given_up_ = false;  // whether the instance has given up
  bool carries_ = false;   // whether an instance begins from the last one's state
  // Offers to this node that have not been answered; kept where instances give way.
  std::map<std::pair<Member, Tag>, Offered> offers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_RESILIENT_ALGORITHM_H_
