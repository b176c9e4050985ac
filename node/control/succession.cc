#include "node/control/succession.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "node/control/control_line.h"

namespace grapevine {
namespace {

// Returns whether a member can have been told to stand there.
bool CanBe(const control::Standing& standing, Rank world_size) {
  const control::View& view = standing.view();
  return standing.limit().limit() >= 0 && view.from() >= 0 && view.ballot() <= standing.ballot() &&
         (!standing.has_view() || AreMembers(view, world_size)) &&
         (!standing.has_done() || standing.done() == standing.limit().limit());
}

}  // namespace

Succession::Succession(SuccessionOptions options, Rank self, std::string run_id)
    : options_(std::move(options)),
      self_(self),
      run_id_(std::move(run_id)),
      addresses_(options_.addresses),
      view_(FirstView(static_cast<Rank>(options_.addresses.size()))) {}

std::string Succession::Objection(const control::Registration& registration) const {
  if (registration.run_id() != run_id_ || !registration.has_standing()) {
    return "it was not in the run that goes on here, which has begun";
  }
  if (registration.rank() == options_.lost) {
    return "the others have lost it, and go on without it";
  }
  if (IsHere(registration.rank())) return "its rank is taken by another process";
  if (CanBe(registration.standing(), static_cast<Rank>(options_.addresses.size()))) return "";
  return "where it says that it stands cannot be; run the same grapevine on every host";
}

void Succession::OnCome(const control::Registration& registration) {
  const control::Standing& standing = registration.standing();
  standings_[registration.rank()] = standing;
  gone_.erase(registration.rank());
  ballot_ = std::max(ballot_, standing.ballot());
  if (standing.has_view() && standing.view().epoch() > view_.epoch) {
    told_ = standing.view();
    view_ = ViewOf(told_);
    for (const control::Newcomer& newcomer : told_.newcomers()) {
      addresses_[newcomer.rank()] = newcomer.address();
      gone_.erase(newcomer.rank());  // the process before was gone
    }
  }
  const Round limit = standing.limit().limit();
  const bool nearer = options_.open_ended && standings_.size() > 1;
  limit_.set_limit(nearer ? std::min(limit_.limit(), limit) : std::max(limit_.limit(), limit));
  coasts_ = std::max(coasts_, standing.coasts());
  limit_.set_final(limit_.final() || standing.limit().final());
  limit_.set_growth(std::max(limit_.growth(), standing.limit().growth()));
}

void Succession::OnGone(Rank rank) {
  standings_.erase(rank);
  gone_.insert(rank);
}

std::map<Rank, std::string> Succession::awaited() const {
  std::map<Rank, std::string> awaited;
  for (const Rank rank : view_.members) {
    if (rank == options_.lost || IsHere(rank) || gone_.contains(rank)) continue;
    awaited[rank] = addresses_[rank];
  }
  return awaited;
}

bool Succession::Lags(Rank rank) const {
  const auto found = standings_.find(rank);
  return found != standings_.end() && found->second.view().epoch() < view_.epoch;
}

std::optional<Round> Succession::DoneBelow(Rank rank) const {
  const auto found = standings_.find(rank);
  if (found == standings_.end() || !found->second.has_done()) return std::nullopt;
  return found->second.done();
}

}  // namespace grapevine
