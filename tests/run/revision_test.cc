#include "run/records/revision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

TEST(Revision, TheVersionIsThatOfTheFile) {
  EXPECT_EQ(Version() + "\n", testing::FileText("VERSION"));
  EXPECT_THAT(Version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+(-[a-z0-9.]+)?"));
}

}  // namespace
}  // namespace grapevine
