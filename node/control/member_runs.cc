#include "node/control/member_runs.h"

namespace grapevine {

void SetMembers(std::span<const Member> members, control::View* view) {
  view->clear_member_runs();
  for (const Member member : members) {
    const int runs = view->member_runs_size();
    if (runs > 0 && view->member_runs(runs - 2) + view->member_runs(runs - 1) == member) {
      view->set_member_runs(runs - 1, view->member_runs(runs - 1) + 1);
    } else {
      view->add_member_runs(member);
      view->add_member_runs(1);
    }
  }
}

std::optional<std::vector<Member>> MembersOf(const control::View& view, Rank world_size) {
  std::vector<Member> members;
  if (view.member_runs_size() % 2 != 0) return std::nullopt;
  for (int i = 0; i < view.member_runs_size(); i += 2) {
    const int64_t first = view.member_runs(i), count = view.member_runs(i + 1);
    const int64_t least = members.empty() ? 0 : members.back() + 1;
    if (first < least || count < 1 || first + count > world_size) return std::nullopt;
    for (int64_t member = first; member < first + count; ++member) {
      members.push_back(static_cast<Member>(member));
    }
  }
  return members;
}

int64_t CountMembers(const control::View& view) {
  int64_t count = 0;
  for (int i = 1; i < view.member_runs_size(); i += 2) count += view.member_runs(i);
  return count;
}

}  // namespace grapevine
