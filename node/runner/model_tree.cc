#include "node/runner/model_tree.h"

#include <cstddef>
#include <utility>

namespace grapevine {
namespace {

int64_t SubtreeSize(int64_t root, int64_t n) {
  if (root >= n) return 0;
  return 1 + SubtreeSize(2 * root + 1, n) + SubtreeSize(2 * root + 2, n);
}

}  // namespace

ModelTree TreeAt(Rank rank, const View& view, Rank lead) {
  const Rank size = view.size();
  const Rank first = view.RankOf(lead).value_or(0);
  const int64_t place = (*view.RankOf(rank) + size - first) % size;
  const auto member_at = [&](int64_t at) { return view.members[(at + first) % size]; };
  ModelTree tree{.parent = place == 0 ? rank : member_at((place - 1) / 2)};
  for (const int64_t child : {2 * place + 1, 2 * place + 2}) {
    if (child < size) tree.children.push_back({member_at(child), SubtreeSize(child, size)});
  }
  return tree;
}

std::shared_ptr<const View> WithModels(std::shared_ptr<const View> view, Rank size) {
  if (view->members.back() < size) return view;
  View with = *view;
  std::erase_if(with.members, [size](Member member) { return member >= size; });
  return std::make_shared<const View>(std::move(with));
}

static_assert(sizeof(MergedDistances) == 2 * sizeof(double));

SharedBytes Bytes(const std::shared_ptr<MergedDistances>& distances) {
  return {distances, reinterpret_cast<std::byte*>(distances.get()), sizeof(MergedDistances)};
}

}  // namespace grapevine
