#include "algorithm/receiving.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

// Calls visit(post, bytes that earlier rounds lack) in the order of rounds, until it
// returns false.
template <typename Posts, typename Visit>
void ForEach(Posts& posts, Visit visit) {
  double before = 0;
  double so_far = 0;
  Round round = 0;
  for (auto& post : posts) {
    if (post.round != round) before = so_far;
    round = post.round;
    if (!visit(post, before)) return;
    so_far += static_cast<double>(post.left);
  }
}

}  // namespace

void CreditOrder::Post(Rank from, Tag tag, Round round, int64_t bytes) {
  const auto later = std::ranges::upper_bound(posts_, round, {}, &OpenPost::round);
  posts_.insert(later, {.message = {from, tag}, .round = round, .left = bytes, .granted = false});
}

std::vector<CreditOrder::OpenPost>::iterator CreditOrder::Find(Rank from, Tag tag) {
  return std::ranges::find_if(posts_, [&](const OpenPost& post) {
    return post.message.from == from && post.message.tag == tag;
  });
}

void CreditOrder::Lacks(Rank from, Tag tag, int64_t bytes) {
  if (const auto post = Find(from, tag); post != posts_.end()) post->left = bytes;
}

void CreditOrder::Close(Rank from, Tag tag) {
  if (const auto post = Find(from, tag); post != posts_.end()) posts_.erase(post);
}

void CreditOrder::CloseAll(Rank from) {
  std::erase_if(posts_, [from](const OpenPost& post) { return post.message.from == from; });
}

std::vector<CreditOrder::Message> CreditOrder::Take(const Allowance& allowance) {
  std::vector<Message> taken;
  ForEach(posts_, [&](OpenPost& post, double before) {
    if (post.granted) return true;
    if (before > kNegligible && before > allowance(post.message.from)) return true;
    post.granted = true;
    taken.push_back(post.message);
    return true;
  });
  return taken;
}

double CreditOrder::Excess(const Allowance& allowance) const {
  double excess = 0;
  ForEach(posts_, [&](const OpenPost& post, double before) {
    if (post.granted) return true;
    excess = before - std::max(kNegligible, allowance(post.message.from));
    return false;
  });
  return excess;
}

namespace {

absl::Status Refused(Rank from, const Tag& tag, Round round, const std::string& what) {
  return WithFailure(
      absl::OutOfRangeError(absl::StrCat("refused what rank ", from, " sent for round ", round,
                                         " (", Describe(tag), "), ", what)),
      Failure::kDiverged);
}

}  // namespace

absl::Status CheckNumbers(Rank from, const Tag& tag, Round round, double squared_norm,
                          double max_norm) {
  if (!std::isfinite(squared_norm)) {
    return Refused(from, tag, round,
                   absl::StrCat("which has NaN or infinite elements: rank ", from,
                                " has diverged (a lower --lr or a warm-up may help), or computes "
                                "wrongly"));
  }
  const double norm = std::sqrt(squared_norm);
  if (norm <= max_norm) return absl::OkStatus();
  return Refused(from, tag, round,
                 absl::StrCat("whose norm ", norm, " is above --max-norm=", max_norm));
}

}  // namespace grapevine
