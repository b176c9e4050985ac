// How simulated nodes learn that one of them is lost or asks to join again, and how they agree on
// the members that go on. The agreement is that of real nodes
// (algorithm/membership/view_agreement.h); each of its messages takes one latency. The living node
// of the lowest rank coordinates it.
//
// Thread-compatible.
#ifndef GRAPEVINE_SIM_ENGINE_MEMBERSHIP_H_
#define GRAPEVINE_SIM_ENGINE_MEMBERSHIP_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "algorithm/membership/members_lately.h"
#include "algorithm/membership/view_agreement.h"
#include "algorithm/view.h"
#include "sim/engine/event_queue.h"
#include "sim/nanoseconds.h"
#include "sim/network/network_model.h"

namespace grapevine {

class Membership {
 public:
  struct Options {
    Rank nodes;
    Round limit;
    // With fewer than `least` members left, these wait for others to join, for at most `patience`.
    Rank least = 0;
    Nanoseconds patience = std::numeric_limits<Nanoseconds>::max();
  };
  // `network` and `queue` must outlive this.
  Membership(const Options& options, const NetworkModel* network, SimQueue* queue);

  // Reports the death of `lost`, which is noticed at `when`.
  void Lose(Member lost, Nanoseconds when);
  // Reports that a process in the place of a dead member asks at `now` to join, which also makes
  // the member's death known.
  void Admit(Member newcomer, Nanoseconds now);
  // Lets all members go on, in a view for that checkpoint; see ViewAgreement::Renew.
  void Renew(Round checkpoint, Nanoseconds now);
  // Moves the limit outwards. No member begins a round at or past it.
  void Extend(Round limit) { agreement_.Extend(limit); }
  // Reports the answer that a node gives at `when`; see Host::Promise.
  void Promise(Member from, uint32_t ballot, Round round, Nanoseconds when);

  // An event for a node. The first one for a newcomer is a Start.
  struct Delivery {
    Member to;
    Event event;
  };
  // Handles an event of the queue (SimEventKind::kMembership), and returns what a node is to hear
  // of it, if anything. Errors name a member that breaks its word.
  absl::StatusOr<std::optional<Delivery>> OnNews(uint32_t index, Nanoseconds now);

  // Returns the members that are agreed to join, before any node hears of it; each once.
  std::vector<Member> TakeNewcomers() { return std::exchange(newcomers_, {}); }

  const View& view() const { return agreement_.view(); }
  // Returns the largest number of members of any view that has held within `memory` before `now`.
  Member MostMembers(Nanoseconds now, Nanoseconds memory) const {
    return lately_.Most(std::chrono::nanoseconds(now), std::chrono::nanoseconds(memory));
  }
  // Returns an error if members wait for others. Called when no event is left, so that the others
  // cannot come.
  absl::Status CheckNobodyWaits() const;

 private:
  struct Noticed {
    Member lost;
    uint32_t life;  // the life that ends
  };
  struct Wish {
    Member newcomer;
    uint32_t life;  // the life before it joins
  };
  struct Answer {
    Member from;
    uint32_t ballot;
    Round round;
  };
  using News = std::variant<Noticed, Wish, Answer, Delivery>;

  void Tell(News news, Nanoseconds when);
  absl::Status Impatient() const;
  // Tells all members what has been agreed upon since the last call.
  void TellDecrees(Nanoseconds now);
  void TellView(const View& view, Nanoseconds now);
  void TellMember(Member member, const Event& event, Nanoseconds now);
  Member coordinator() const { return agreement_.living().front(); }

  const Options options_;
  const NetworkModel* const network_;
  SimQueue* const queue_;
  ViewAgreement agreement_;
  MembersLately lately_;
  std::optional<Nanoseconds> waiting_since_;  // since when members wait for others to join
  std::deque<View> views_;                    // all views: events point at them
  std::vector<Nanoseconds> last_;  // last delivery to each node, which hears everything in order
  std::vector<uint32_t> lives_;    // how often each member has joined again
  std::vector<Member> newcomers_;
  std::vector<News> news_;  // slots of news; those in `free_` are not on their way
  std::vector<uint32_t> free_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_MEMBERSHIP_H_
