#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/status.h"

namespace grapevine {
namespace {

absl::StatusOr<int> Parsed(int number) {
  if (number < 0) return absl::InvalidArgumentError("negative");
  return number;
}

absl::Status Checked(int number) { return Parsed(number).status(); }

absl::StatusOr<std::string> Both(int checked, int parsed, int* reached) {
  RETURN_IF_ERROR(Checked(checked));
  ++*reached;
  ASSIGN_OR_RETURN(const int first, Parsed(parsed));
  ++*reached;
  int second = 0;
  ASSIGN_OR_RETURN(second, Parsed(parsed + 1));
  return std::to_string(first) + std::to_string(second);
}

TEST(StatusMacros, PassTheFirstErrorOn) {
  int reached = 0;
  EXPECT_EQ(*Both(1, 2, &reached), "23");
  EXPECT_EQ(reached, 2);
  reached = 0;
  EXPECT_EQ(Both(-1, 2, &reached).status(), absl::InvalidArgumentError("negative"));
  EXPECT_EQ(reached, 0);
  EXPECT_EQ(Both(1, -1, &reached).status(), absl::InvalidArgumentError("negative"));
  EXPECT_EQ(reached, 1);
}

absl::StatusOr<std::unique_ptr<int>> Owned(int number) {
  using Numbers = std::map<int, int>;
  ASSIGN_OR_RETURN(auto owned, absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(number)));
  ASSIGN_OR_RETURN(const Numbers numbers, (absl::StatusOr<Numbers>(Numbers{{1, 2}, {3, 4}})));
  RETURN_IF_ERROR(Checked(std::map<int, int>{{1, number}}.at(1)));
  *owned += numbers.at(3);
  return owned;
}

TEST(StatusMacros, MoveWhatCannotBeCopiedAndTakeCommas) {
  EXPECT_EQ(**Owned(5), 9);
  EXPECT_FALSE(Owned(-5).ok());
}

}  // namespace
}  // namespace grapevine
