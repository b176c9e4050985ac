#include "node/identity/authentication.h"

#include <glog/logging.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace grapevine {

std::string RunToken::Proof(std::string_view claim) const {
  if (!given()) return "";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const unsigned char* made =
      HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
           reinterpret_cast<const unsigned char*>(claim.data()), claim.size(), digest, &size);
  CHECK(made != nullptr) << "libcrypto has no SHA-256";
  return std::string(reinterpret_cast<const char*>(digest), size);
}

bool RunToken::Accepts(std::string_view proof, std::string_view claim) const {
  const std::string expected = Proof(claim);
  return proof.size() == expected.size() &&
         CRYPTO_memcmp(proof.data(), expected.data(), expected.size()) == 0;
}

std::string RankNames::Of(Rank rank) const { return absl::StrCat("rank-", rank, ".", run_); }

std::string FileOfRank(const std::string& file, Rank rank) {
  return absl::StrReplaceAll(file, {{"{rank}", absl::StrCat(rank)}});
}

}  // namespace grapevine
