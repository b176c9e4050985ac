#include "sim/engine/membership.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

Membership::Membership(const Options& options, const NetworkModel* network, SimQueue* queue)
    : options_(options),
      network_(network),
      queue_(queue),
      agreement_(FirstView(options.nodes), options.limit, options.least),
      lately_(options.nodes),
      last_(options.nodes),
      lives_(options.nodes) {}

void Membership::Tell(News news, Nanoseconds when) {
  auto index = static_cast<uint32_t>(news_.size());
  if (free_.empty()) {
    news_.push_back(std::move(news));
  } else {
    index = free_.back();
    free_.pop_back();
    news_[index] = std::move(news);
  }
  queue_->Push(when, SimEvent{.kind = SimEventKind::kMembership, .version = 0, .index = index});
}

void Membership::Lose(Member lost, Nanoseconds when) { Tell(Noticed{lost, lives_[lost]}, when); }

void Membership::Admit(Member newcomer, Nanoseconds now) {
  const Nanoseconds heard = now + network_->Latency(newcomer, coordinator());
  Lose(newcomer, heard);
  Tell(Wish{newcomer, lives_[newcomer]}, heard);
}

void Membership::Renew(Round checkpoint, Nanoseconds now) {
  agreement_.Renew(checkpoint);
  TellDecrees(now);
}

void Membership::Promise(Member from, uint32_t ballot, Round round, Nanoseconds when) {
  Tell(Answer{from, ballot, round}, when + network_->Latency(from, coordinator()));
}

absl::StatusOr<std::optional<Membership::Delivery>> Membership::OnNews(uint32_t index,
                                                                       Nanoseconds now) {
  const News news = news_[index];
  free_.push_back(index);
  if (const auto* delivery = std::get_if<Delivery>(&news)) return *delivery;
  if (const auto* noticed = std::get_if<Noticed>(&news)) {
    if (noticed->life == lives_[noticed->lost]) agreement_.Lose(noticed->lost);
  }
  if (const auto* wish = std::get_if<Wish>(&news)) {
    if (waiting_since_ && now - *waiting_since_ >= options_.patience) return Impatient();
    if (wish->life == lives_[wish->newcomer]) agreement_.Admit(wish->newcomer);
  }
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

absl::Status Membership::CheckNobodyWaits() const {
  return agreement_.waits() ? Impatient() : absl::OkStatus();
}

absl::Status Membership::Impatient() const {
  return WithFailure(
      absl::AbortedError(absl::StrCat(agreement_.living().size(), " of ", options_.nodes,
                                      " nodes are left, fewer than --min-nodes=", options_.least,
                                      ", and not enough others have come in within "
                                      "--rendezvous-timeout")),
      Failure::kPeerLost);
}

void Membership::TellDecrees(Nanoseconds now) {
  while (const std::optional<ViewAgreement::Decree> decree = agreement_.Take()) {
    if (const auto* view = std::get_if<View>(&*decree)) {
      TellView(views_.emplace_back(*view), now);
      continue;
    }
    for (const Member member : agreement_.living()) {
      TellMember(member, std::get<Prepare>(*decree), now);
    }
  }
  if (static_cast<Rank>(agreement_.living().size()) >= options_.least) waiting_since_.reset();
  if (agreement_.waits() && !waiting_since_) waiting_since_ = now;
}

void Membership::TellView(const View& view, Nanoseconds now) {
  lately_.OnView(view.size(), std::chrono::nanoseconds(now));
  for (const Member member : view.members) {
    Event event = ViewChanged{&view};
    if (view.IsNewcomer(member)) {
      event = Start{.round = view.from, .joins = &view};
      ++lives_[member];
      newcomers_.push_back(member);
    }
    TellMember(member, event, now);
  }
}

void Membership::TellMember(Member member, const Event& event, Nanoseconds now) {
  last_[member] = std::max(last_[member], now + network_->Latency(coordinator(), member));
  Tell(Delivery{member, event}, last_[member]);
}

}  // namespace grapevine
