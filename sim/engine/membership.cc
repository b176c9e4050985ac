#include "sim/engine/membership.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

Membership::Membership(Rank nodes, const NetworkModel* network, SimQueue* queue)
    : network_(network),
      queue_(queue),
      agreement_(FirstView(nodes), std::numeric_limits<Round>::max()),
      last_(nodes) {}

void Membership::Tell(News news, Nanoseconds when) {
  queue_->Push(when, SimEvent{.kind = SimEventKind::kMembership,
                              .version = 0,
                              .index = static_cast<uint32_t>(news_.size())});
  news_.push_back(std::move(news));
}

void Membership::Lose(Member lost, Nanoseconds when) { Tell(Noticed{lost}, when); }

void Membership::Promise(Member from, uint32_t ballot, Round round, Nanoseconds when) {
  Tell(Answer{from, ballot, round}, when + network_->Latency(from, coordinator()));
}

absl::StatusOr<std::optional<Membership::Delivery>> Membership::OnNews(uint32_t index,
                                                                       Nanoseconds now) {
  const News news = news_[index];
  if (const auto* delivery = std::get_if<Delivery>(&news)) return *delivery;
  if (const auto* noticed = std::get_if<Noticed>(&news)) agreement_.Lose(noticed->lost);
  if (const auto* answer = std::get_if<Answer>(&news)) {
    const absl::Status taken = agreement_.OnPromise(answer->from, answer->ballot, answer->round);
    if (!taken.ok()) {
      return absl::InternalError(
          absl::StrCat("rank ", answer->from, " ", std::string(taken.message())));
    }
  }
  TellDecrees(now);
  return std::nullopt;
}

void Membership::TellDecrees(Nanoseconds now) {
  const std::optional<ViewAgreement::Decree> decree = agreement_.Take();
  if (!decree) return;
  Event event;
  if (const auto* prepare = std::get_if<Prepare>(&*decree)) {
    event = *prepare;
  } else {
    event = ViewChanged{&views_.emplace_back(std::get<View>(*decree))};
  }
  for (const Member member : agreement_.living()) {
    last_[member] = std::max(last_[member], now + network_->Latency(coordinator(), member));
    Tell(Delivery{member, event}, last_[member]);
  }
}

}  // namespace grapevine
