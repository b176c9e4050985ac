#include "algorithm/receiving.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
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

template <typename Posts, typename Visit>
void CreditOrder::ForEach(Posts& posts, Visit visit) {
  double before = 0;
  double so_far = 0;
  size_t first = 0;  // the first post of the round
  for (size_t i = 0; i < posts.size(); ++i) {
    if (posts[i].round != posts[first].round) {
      before = so_far;
      first = i;
    }
    if (!visit(posts[i], before, std::span<const OpenPost>(posts).first(first))) return;
    so_far += static_cast<double>(posts[i].left);
  }
}

double CreditOrder::Least(const Allowance& allowance, Rank to, std::span<const OpenPost> earlier) {
  double least = std::numeric_limits<double>::infinity();
  for (const OpenPost& post : earlier) {
    if (post.left > 0) least = std::min(least, allowance(to, post.message.from));
  }
  return least;
}

std::vector<CreditOrder::Message> CreditOrder::Take(const Allowance& allowance) {
  std::vector<Message> taken;
  ForEach(posts_, [&](OpenPost& post, double before, std::span<const OpenPost> earlier) {
    if (post.granted) return true;
    if (before > kNegligible && before > Least(allowance, post.message.from, earlier)) return true;
    post.granted = true;
    taken.push_back(post.message);
    return true;
  });
  return taken;
}

double CreditOrder::Excess(const Allowance& allowance) const {
  double excess = 0;
  ForEach(posts_, [&](const OpenPost& post, double before, std::span<const OpenPost> earlier) {
    if (post.granted) return true;
    excess = before - std::max(kNegligible, Least(allowance, post.message.from, earlier));
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
