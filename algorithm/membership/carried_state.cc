#include "algorithm/membership/carried_state.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

template <typename T>
void CarriedState::Carry(std::map<std::string, T, std::less<>>& kept, std::string_view name,
                         T* value) {
  if (!taken_) {
    kept.emplace(name, *value);
    return;
  }
  const auto found = kept.find(name);
  if (found == kept.end()) {
    status_.Update(
        absl::InternalError(absl::StrCat("the last view's state has no ", std::string(name))));
    return;
  }
  *value = found->second;
  kept.erase(found);
}

void CarriedState::Vector(std::string_view name, Vec vector) {
  Vec carried = vector;
  Carry(vectors_, name, &carried);
  if (!taken_ || carried == vector) return;
  const int64_t size = host_->SizeOf(vector);
  const Term old{1.0, {carried, 0, size}};
  if (size > 0) host_->Combine({vector, 0, size}, {&old, 1});
  host_->Drop(carried);
}

void CarriedState::Number(std::string_view name, double* number) { Carry(numbers_, name, number); }

void CarriedState::Rounds(std::string_view name, int64_t* rounds) { Carry(rounds_, name, rounds); }

void CarriedState::Message(std::string_view name, const StateMessage&) {
  status_.Update(absl::UnimplementedError(
      absl::StrCat(std::string(name),
                   " is on its way from one view to the next: this algorithm cannot go on "
                   "when members are lost")));
}

absl::Status CarriedState::Finish() {
  if (!status_.ok()) return status_;
  if (vectors_.empty() && numbers_.empty() && rounds_.empty()) return absl::OkStatus();
  const std::string& left = !vectors_.empty()   ? vectors_.begin()->first
                            : !numbers_.empty() ? numbers_.begin()->first
                                                : rounds_.begin()->first;
  return absl::InternalError(absl::StrCat("the next view's state has no ", left));
}

}  // namespace grapevine
