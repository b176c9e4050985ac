#include "run/config/token_source.h"

#include <sys/stat.h>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char kToken[] = "0123456789abcdef0123456789abcdef";

class TokenFile : public ::testing::Test {
 protected:
  absl::StatusOr<TokenSource> Find(const std::string& text, mode_t mode = 0600) {
    Config config;
    config.set_token_file(folder_.Write("token", text));
    EXPECT_EQ(chmod(config.token_file().c_str(), mode), 0);
    return FindToken(config, nullptr);
  }
  // The file is refused with its name and `why`, and without what it holds.
  void ExpectRefused(const std::string& text, const std::string& why) {
    const auto found = Find(text);
    EXPECT_EQ(FailureOf(found.status()), Failure::kInput);
    EXPECT_THAT(std::string(found.status().message()),
                AllOf(HasSubstr("--token-file=" + folder_.File("token")), HasSubstr(why)));
    if (!text.empty()) {
      EXPECT_THAT(std::string(found.status().message()), Not(HasSubstr(text.substr(0, 12))));
    }
  }
  ScratchFolder folder_;
};

TEST_F(TokenFile, GivesItsTokenWithoutTheBlanksAroundIt) {
  const auto found = Find(std::string("\n ") + kToken + " \r\n");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->secret, kToken);
  EXPECT_EQ(found->origin, "--token-file=" + folder_.File("token"));
  EXPECT_EQ(found->warning, "");
}

TEST_F(TokenFile, OneThatHoldsNoTokenIsRefused) {
  ExpectRefused("", "there is no token in it");
  ExpectRefused(" \n", "there is no token in it");
  ExpectRefused("fifteen letters", "16 to 1024 characters, this one 15");
  ExpectRefused(std::string(1025, 'x'), "16 to 1024 characters, this one 1025");
  ExpectRefused(std::string(1 << 20, 'x'), "a file of 1048576 bytes is not a token");
  ExpectRefused("two words, each long", "printable ASCII characters without blanks");
  ExpectRefused(std::string(20, '\x1b'), "printable ASCII characters without blanks");
  ExpectRefused(std::string(20, '\0'), "printable ASCII characters without blanks");
}

TEST_F(TokenFile, OneThatIsNotThereOrNoFileIsRefused) {
  Config config;
  config.set_token_file(folder_.File("absent"));
  const auto absent = FindToken(config, kToken);
  EXPECT_EQ(FailureOf(absent.status()), Failure::kInput);
  EXPECT_THAT(std::string(absent.status().message()),
              AllOf(HasSubstr("--token-file"), HasSubstr(folder_.File("absent"))));
  config.set_token_file(folder_.path());
  EXPECT_EQ(FailureOf(FindToken(config, nullptr).status()), Failure::kInput);
}

TEST_F(TokenFile, OneThatOthersCanReadIsWarnedOf) {
  const auto found = Find(kToken, 0644);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(found->warning, AllOf(HasSubstr("others on this machine can read"),
                                    HasSubstr("chmod 600 " + folder_.File("token"))));
  EXPECT_THAT(found->warning, Not(HasSubstr(kToken)));
}

TEST(TokenSource, TheFileComesBeforeTheEnvironment) {
  const ScratchFolder folder;
  Config config;
  EXPECT_EQ(FindToken(config, nullptr)->secret, "");
  EXPECT_EQ(FindToken(config, nullptr)->origin, "none");
  EXPECT_EQ(FindToken(config, "")->secret, "");
  EXPECT_EQ(FindToken(config, kToken)->secret, kToken);
  EXPECT_EQ(FindToken(config, kToken)->origin, "GRAPEVINE_TOKEN");
  config.set_token_file(folder.Write("token", "another-token-of-this-run"));
  EXPECT_EQ(FindToken(config, kToken)->secret, "another-token-of-this-run");
}

TEST(TokenSource, AnUnfitVariableIsNamedAndNotQuoted) {
  const auto found = FindToken({}, "short secret");
  EXPECT_EQ(FailureOf(found.status()), Failure::kUsage);
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("GRAPEVINE_TOKEN: "), HasSubstr("openssl rand"),
                    Not(HasSubstr("short secret"))));
}

TEST(TokenSource, DrawnTokensAreLongAndDiffer) {
  const auto one = DrawToken(), other = DrawToken();
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->size(), 64u);
  EXPECT_NE(*one, *other);
  EXPECT_TRUE(FindToken({}, one->c_str()).ok());
}

}  // namespace
}  // namespace grapevine
