// Whether a node's certificate, key and authority are usable, before anyone dials.
//
// What OpenSSL says of them in a handshake reaches nobody: one side sees a closed socket, and
// cannot tell which of the two is at fault. So each node checks its own.
//
// Errors are kInput, name the file, the date where they are about one, and the remedy. Pure
// functions but for ReadPem, safe from any thread.
#ifndef GRAPEVINE_NODE_SERVER_CERTIFICATES_H_
#define GRAPEVINE_NODE_SERVER_CERTIFICATES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "node/identity/authentication.h"

namespace grapevine {

// A file as text, and how to name it: "--tls-cert: /etc/node.pem".
struct PemFile {
  std::string name;
  std::string text;
};

absl::StatusOr<PemFile> ReadPem(std::string_view flag, const std::string& path);

// Checks that each can be read, that the key belongs to the certificate and needs no passphrase,
// that the authority has signed it, and that both are valid `now`. Returns a warning where one of
// them expires within a week, else an empty text.
absl::StatusOr<std::string> CheckCertificate(const PemFile& ca, const PemFile& cert,
                                             const PemFile& key, absl::Time now);

// That `ca` vouches for `cert`, whatever the time: what another node asks.
absl::Status CheckAuthority(const PemFile& ca, const PemFile& cert);

// That others will take this node for the rank that it is.
absl::Status CheckRankName(const PemFile& cert, const RankNames& names, Rank rank);

// That who dials `host`, a name or an address, will take the node for it.
absl::Status CheckHostName(const PemFile& cert, const std::string& host);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_CERTIFICATES_H_
