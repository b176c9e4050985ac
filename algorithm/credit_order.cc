#include "algorithm/credit_order.h"

#include <algorithm>

namespace grapevine {
namespace {

// Calls visit(place, bytes that earlier rounds lack) in the order of rounds, until it
// returns false.
template <typename Places, typename Visit>
void ForEach(Places& places, Visit visit) {
  double before = 0;
  double so_far = 0;
  Round round = 0;
  for (auto& place : places) {
    if (place.round != round) before = so_far;
    round = place.round;
    if (!visit(place, before)) return;
    so_far += static_cast<double>(place.left);
  }
}

}  // namespace

void CreditOrder::Post(Rank from, Tag tag, Round round, int64_t bytes) {
  const auto later = std::ranges::upper_bound(places_, round, {}, &Place::round);
  places_.insert(later, {.message = {from, tag}, .round = round, .left = bytes, .granted = false});
}

std::vector<CreditOrder::Place>::iterator CreditOrder::Find(Rank from, Tag tag) {
  return std::ranges::find_if(places_, [&](const Place& place) {
    return place.message.from == from && place.message.tag == tag;
  });
}

void CreditOrder::Lacks(Rank from, Tag tag, int64_t bytes) {
  if (const auto place = Find(from, tag); place != places_.end()) place->left = bytes;
}

void CreditOrder::Close(Rank from, Tag tag) {
  if (const auto place = Find(from, tag); place != places_.end()) places_.erase(place);
}

void CreditOrder::CloseAll(Rank from) {
  std::erase_if(places_, [from](const Place& place) { return place.message.from == from; });
}

std::vector<CreditOrder::Message> CreditOrder::Take(const Allowance& allowance) {
  std::vector<Message> taken;
  ForEach(places_, [&](Place& place, double before) {
    if (place.granted) return true;
    if (before > kNegligible && before > allowance(place.message.from)) return true;
    place.granted = true;
    taken.push_back(place.message);
    return true;
  });
  return taken;
}

double CreditOrder::Excess(const Allowance& allowance) const {
  double excess = 0;
  ForEach(places_, [&](const Place& place, double before) {
    if (place.granted) return true;
    excess = before - std::max(kNegligible, allowance(place.message.from));
    return false;
  });
  return excess;
}

}  // namespace grapevine
