#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "node/identity/authentication.h"

namespace grapevine {
namespace {

// RFC 4231, test case 2.
TEST(RunToken, ItsProofIsHmacSha256) {
  EXPECT_EQ(absl::BytesToHexString(RunToken("Jefe").Proof("what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(RunToken, AcceptsItsOwnProofOfTheSameClaimOnly) {
  const RunToken token("secret"), other("secrets");
  const std::string proof = token.Proof("rank 3");
  EXPECT_TRUE(token.Accepts(proof, "rank 3"));
  EXPECT_FALSE(token.Accepts(proof, "rank 4"));
  EXPECT_FALSE(other.Accepts(proof, "rank 3"));
  EXPECT_FALSE(token.Accepts("", "rank 3"));
  EXPECT_FALSE(token.Accepts(proof.substr(0, 31), "rank 3"));
  std::string bent = proof;
  bent.back() ^= 1;
  EXPECT_FALSE(token.Accepts(bent, "rank 3"));
}

// A node that was given a token and one that was not do not belong together.
TEST(RunToken, WithoutOneNothingIsShownAndNothingAccepted) {
  const RunToken none;
  EXPECT_FALSE(none.given());
  EXPECT_EQ(none.Proof("rank 3"), "");
  EXPECT_TRUE(none.Accepts("", "rank 3"));
  EXPECT_FALSE(none.Accepts(RunToken("secret").Proof("rank 3"), "rank 3"));
}

}  // namespace
}  // namespace grapevine
