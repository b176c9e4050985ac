#include "kernels/tensor/cuda/library/shared_library.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

TEST(SharedLibraryTest, FindsWhatTheLibraryHas) {
  SharedLibrary mathematics("libm.so.6", "a C library");
  double (*cosine)(double) = nullptr;
  mathematics.Find("cos", &cosine);
  ASSERT_TRUE(mathematics.status().ok()) << mathematics.status();
  EXPECT_EQ(cosine(0), 1);
}

TEST(SharedLibraryTest, SaysWhatIsMissingWhereAndTheRemedy) {
  SharedLibrary none("libvineyard.so.7", "Vineyard 7");
  int (*function)() = +[] { return 0; };
  none.Find("vineyard", &function);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnavailable);
  const std::string message(none.status().message());
  EXPECT_THAT(message, HasSubstr("libvineyard.so.7 cannot be used: "));
  EXPECT_THAT(message, HasSubstr("No such file"));
  EXPECT_THAT(message, HasSubstr("/lib64/libvineyard.so.7"));
  EXPECT_THAT(message, HasSubstr("install Vineyard 7"));
  EXPECT_THAT(message, HasSubstr("LD_LIBRARY_PATH"));
}

TEST(SharedLibraryTest, NamesAFunctionThatItLacks) {
  SharedLibrary mathematics("libm.so.6", "a C library");
  double (*function)(double) = nullptr;
  mathematics.Find("of_no_library", &function);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(mathematics.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(mathematics.status().message()), HasSubstr("of_no_library"));
}

}  // namespace
}  // namespace grapevine
