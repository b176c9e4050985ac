// Where the token of a run comes from: a file, the environment or, for nodes
// that one process starts, the kernel's random numbers. node/identity/run_token.h says
// what it is for.
//
// No message and no file of a run holds the token itself, only its source.
#ifndef GRAPEVINE_RUN_CONFIG_TOKEN_SOURCE_H_
#define GRAPEVINE_RUN_CONFIG_TOKEN_SOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Holds the token itself, unlike GRAPEVINE_TOKEN_FILE (--token-file).
inline constexpr char kTokenVariable[] = "GRAPEVINE_TOKEN";

struct TokenSource {
  std::string secret;   // empty where no source has a token
  std::string origin;   // "--token-file=FILE", "GRAPEVINE_TOKEN" or "none"
  std::string warning;  // empty, or what is unsafe about the source
};

// --token-file, else GRAPEVINE_TOKEN (`variable`, null where it is unset; an
// empty one counts as unset). Blanks around the token are left out. kInput or
// kUsage names the source where the file cannot be read, or the token is empty,
// shorter than 16 or longer than 1024 characters, or not printable ASCII.
absl::StatusOr<TokenSource> FindToken(const Config& config, const char* variable);

// 256 bits of the kernel's, as hexadecimal digits.
absl::StatusOr<std::string> DrawToken();

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_TOKEN_SOURCE_H_
