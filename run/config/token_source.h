// The source of a run's token: a file, the environment or, for nodes started by one process, the
// kernel's random number generator. node/identity/authentication.h describes the purpose of the
// token.
//
// No message and no file of a run holds the token itself, only its source.
#ifndef GRAPEVINE_RUN_CONFIG_TOKEN_SOURCE_H_
#define GRAPEVINE_RUN_CONFIG_TOKEN_SOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The variable that holds the token itself, unlike GRAPEVINE_TOKEN_FILE (--token-file).
inline constexpr char kTokenVariable[] = "GRAPEVINE_TOKEN";

struct TokenSource {
  std::string secret;   // empty if no source has a token
  std::string origin;   // "--token-file=FILE", "GRAPEVINE_TOKEN" or "none"
  std::string warning;  // empty, or what is unsafe about the source
};

// Reads the token from --token-file, else from GRAPEVINE_TOKEN (`variable`, null if unset; an empty
// one counts as unset). Strips whitespace around the token. Errors are kInput or kUsage and name
// the source: the file cannot be read, or the token is empty, shorter than 16 or longer than 1024
// characters, or not printable ASCII.
absl::StatusOr<TokenSource> FindToken(const Config& config, const char* variable);

// Returns 256 bits from the kernel, as hexadecimal digits.
absl::StatusOr<std::string> DrawToken();

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_TOKEN_SOURCE_H_
