// How simulated nodes learn that one of them is lost, or wants to come in again, and agree on who
// goes on: the agreement of real nodes (algorithm/membership/view_agreement.h), its messages in a
// latency each. It is held by the living node of the lowest rank.
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
    Rank least = 0;  // with fewer, those who are left wait for others to come in,
    Nanoseconds patience = std::numeric_limits<Nanoseconds>::max();  // so long
  };
  // All outlive this.
  Membership(const Options& options, const NetworkModel* network, SimQueue* queue);

  // A death is noticed at `when`.
  void Lose(Member lost, Nanoseconds when);
  // A process in the place of a member that is dead asks at `now` to come in: so its death is
  // known.
  void Admit(Member newcomer, Nanoseconds now);
  // All go on as they are, for that checkpoint (ViewAgreement::Renew).
  void Renew(Round checkpoint, Nanoseconds now);
  // No member begins a round at or past it so far.
  void Extend(Round limit) { agreement_.Extend(limit); }
  // A node answers at `when` (Host::Promise).
  void Promise(Member from, uint32_t ballot, Round round, Nanoseconds when);

  // What a node hears; of a newcomer's first, it is a Start.
  struct Delivery {
    Member to;
    Event event;
  };
  // An event of the queue (SimEventKind::kMembership). Errors name a member that breaks its word.
  absl::StatusOr<std::optional<Delivery>> OnNews(uint32_t index, Nanoseconds now);

  // Those who are agreed to come in, before anyone hears of it; each once.
  std::vector<Member> TakeNewcomers() { return std::exchange(newcomers_, {}); }

  const View& view() const { return agreement_.view(); }
  // The most members of all views that have held within `memory` before now.
  Member MostMembers(Nanoseconds now, Nanoseconds memory) const {
    return lately_.Most(std::chrono::nanoseconds(now), std::chrono::nanoseconds(memory));
  }
  // Nothing more happens: an error where members wait for others, who cannot come.
  absl::Status CheckNobodyWaits() const;

 private:
  struct Noticed {
    Member lost;
    uint32_t life;  // of which this is the end
  };
  struct Wish {
    Member newcomer;
    uint32_t life;  // before it comes in
  };
  struct Answer {
    Member from;
    uint32_t ballot;
    Round round;
  };
  using News = std::variant<Noticed, Wish, Answer, Delivery>;

  void Tell(News news, Nanoseconds when);
  absl::Status Impatient() const;
  // Tells all who are in what was agreed upon since.
  void TellDecrees(Nanoseconds now);
  void TellView(const View& view, Nanoseconds now);
  void TellMember(Member member, const Event& event, Nanoseconds now);
  Member coordinator() const { return agreement_.living().front(); }

  const Options options_;
  const NetworkModel* const network_;
  SimQueue* const queue_;
  ViewAgreement agreement_;
  MembersLately lately_;
  std::optional<Nanoseconds> waiting_since_;  // for others
  std::deque<View> views_;                    // all: events point at them
  std::vector<Nanoseconds> last_;  // delivery to each node: what it is told comes in order
  std::vector<uint32_t> lives_;    // how often each has come in again
  std::vector<Member> newcomers_;
  std::vector<News> news_;  // on its way, but for those that are free
  std::vector<uint32_t> free_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_MEMBERSHIP_H_
