#include "report/paper_width.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

TEST(PaperWidth, HasNamesAndUnits) {
  EXPECT_DOUBLE_EQ(*WidthNamed("column"), 8.4);
  EXPECT_DOUBLE_EQ(*WidthNamed("page"), 17.4);
  EXPECT_DOUBLE_EQ(*WidthNamed("12cm"), 12);
  EXPECT_DOUBLE_EQ(*WidthNamed("85mm"), 8.5);
  EXPECT_DOUBLE_EQ(*WidthNamed("3.5in"), 8.89);
}

TEST(PaperWidth, RefusesWhatNoPaperIs) {
  for (const char* text : {"", "12", "cm", "-8cm", "3.9cm", "61cm", "nancm", "infcm", "12 px"}) {
    const absl::Status status = WidthNamed(text).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << text;
    EXPECT_EQ(status.message(), absl::StrCat("--width=", text,
                                             ": must be column (8.4 cm), page (17.4 cm) or a "
                                             "length from 4 to 60 cm, as 12cm, 85mm or 3.3in"));
  }
}

}  // namespace
}  // namespace grapevine
