// An algorithm whose nodes go on when some of them are lost, and when others come in.
//
// An instance of the algorithm lives for one view (view.h): its ranks are positions there, and its
// graph and weights are those of the view's members. When a view follows, the instance goes through
// the rounds before it, as all members do, without what the lost do not send (Lost), and rests;
// then the next instance begins from its state. The algorithm knows of all this only that a message
// may be lost: it must go on without it.
//
// How far an instance may go at any time is limited: to some rounds ahead of the one that it is in.
// So an answer to Prepare needs no instance that stops at once, and a view begins at most so many
// rounds after the latest one.
//
// An instance that gives way at once (Algorithm::gives_way) goes as far as the run does, and gives
// its round up when it hears Prepare: it answers with the rounds that it has done. The
// view's first round is then the latest that any member has begun, and each begins in its own, from
// which it catches up by itself (Start::latest). Messages of instances that were given up must not
// meet those of the next: each view has channels of its own.
// A newcomer's first instance begins, with the optimizer's state of a fresh one, once it has
// received the mean of the others' replicas (admission.h), which takes the initial one's place.
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
  // An instance for the member of this rank in the view. Errors end the run.
  using MakeInstance =
      std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(const View& view, Rank rank)>;

  struct Options {
    Member self = 0;
    View first;      // `self` is a member; one that comes in later has another (Start::joins)
    int window = 1;  // AlgorithmOptions::window of the instances
    MakeInstance make;
  };
  static absl::StatusOr<std::unique_ptr<ResilientAlgorithm>> Make(Options options);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return instance_ != nullptr && instance_->gives_way(); }
  bool takes_leave() const override { return instance_ != nullptr && instance_->takes_leave(); }
  // All that makes an instance give way to the next, and what those who are behind ask.
  bool MustHear(const Event& event) const override;
  Round round() const override { return instance_ ? instance_->round() : view_.from; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

  // The one that the node is in. The latest agreed upon may begin in a later round.
  const View& view() const { return view_; }

 private:
  class StateOfMember;

  explicit ResilientAlgorithm(Options options)
      : options_(std::move(options)), view_(options_.first), limit_(view_.from) {}

  absl::Status OnStart(const Start& event);
  absl::Status OnPrepare(const Prepare& event);
  absl::Status OnView(const View& view);
  // Where instances give way, what is sent is offered, of which a node may hear before it
  // posts, or after it has given up, or of a view that it has not begun.
  absl::Status OnOffer(const Offered& offer);
  // Of this view, which has begun.
  absl::Status HearOffers();
  // Of a message of an admission, to which it goes, or of a send that may be one's: false if not.
  absl::StatusOr<bool> OnAdmission(const Event& event);
  void BeginDonation();
  void EndDonations();  // that are over
  std::list<Donation>::iterator FindDonation(const Tag& tag);
  // The newcomer has what it begins with.
  absl::Status BeginFirstView();
  // To the instance; members in it become ranks.
  absl::Status Forward(const Event& event);
  absl::StatusOr<Rank> RankOf(Member member) const;
  // Moves the instance's limit as far as it may go now.
  absl::Status Advance();
  absl::Status BeginNextView();
  // Makes an instance that gives way do so, if it is to end.
  void GiveUpIfAsked();
  // Whether the instance, which rests, is to make way for the next one.
  bool MayBeginNextView() const;
  // From Prepare until its view: the limit stays.
  bool held() const { return agreed_ < asked_; }
  // The latest agreed upon.
  const View& latest_view() const { return next_.empty() ? view_ : next_.back(); }

  Member MemberOf(Rank rank) const { return view_.members[rank]; }
  // A tag of the instance as that of its view, and back.
  Tag OfView(Tag tag) const;
  Tag OfInstance(Tag tag) const;
  // How many views after that of the instance the one is whose message has this tag.
  int ViewsAhead(Tag tag) const;

  // Host, for the instance, over that of the event:
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
  // What was posted for one that is lost ends by itself.
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
  std::deque<View> next_;                // agreed upon, not begun
  std::unique_ptr<Algorithm> instance_;  // none of a newcomer that cannot begin yet
  std::optional<Reception> reception_;   // until then
  std::optional<Vec> received_;          // with what its first instance begins
  std::list<Donation> donations_;        // that are under way
  Host* host_ = nullptr;                 // during an event
  Round limit_;                          // the instance's
  Round run_limit_ = 0;                  // the run's
  uint32_t asked_ = 0;                   // the last ballot
  uint32_t agreed_ = 0;                  // of the last view
  std::optional<Vec> resting_;           // the instance is at rest, with this model
  bool started_ = false;
  bool given_up_ = false;  // the instance has
  bool carries_ = false;   // one begins with the state of that before
  // Where instances give way: what is offered to this node and not answered.
  std::map<std::pair<Member, Tag>, Offered> offers_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_RESILIENT_ALGORITHM_H_
