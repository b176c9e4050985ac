// Checks of whether a node's certificate, key and authority are usable, before anyone dials.
//
// What OpenSSL says of certificates in a handshake reaches no user: one side sees a closed socket,
// and cannot tell which of the two is at fault. So each node checks its own files.
//
// Errors are kInput; they name the file, the date if the error is about one, and the remedy. All
// functions but ReadPem are pure. Safe from any thread.
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

// The text of a PEM file, and its name for messages.
struct PemFile {
  std::string name;  // "--tls-cert: /etc/node.pem"
  std::string text;
};

// Reads the file at `path`, which `flag` has named.
absl::StatusOr<PemFile> ReadPem(std::string_view flag, const std::string& path);

// Checks that each file can be read, that the key belongs to the certificate and needs no
// passphrase, that the authority has signed the certificate, and that certificate and authority are
// valid `now`. Returns a warning if one of them expires within a week, else an empty text.
absl::StatusOr<std::string> CheckCertificate(const PemFile& ca, const PemFile& cert,
                                             const PemFile& key, absl::Time now);

// Checks that `ca` vouches for `cert`, at whatever time, as another node does.
absl::Status CheckAuthority(const PemFile& ca, const PemFile& cert);

// Checks that `cert` names `rank` as `names` demands, so that others accept the node as that rank.
absl::Status CheckRankName(const PemFile& cert, const RankNames& names, Rank rank);

// Checks that `cert` names `host`, a name or an address, so that a node that dials `host` accepts
// it.
absl::Status CheckHostName(const PemFile& cert, const std::string& host);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_CERTIFICATES_H_
