// Whether a node's certificate, key and authority will do, before anybody dials.
//
// What OpenSSL says of them in a handshake reaches nobody: one side sees a socket
// that closed, and which of the two is at fault cannot be told. So each node looks
// at its own.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_NODE_SERVER_CERTIFICATE_H_
#define GRAPEVINE_NODE_SERVER_CERTIFICATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace grapevine {

// A file as text, and how to name it: "--tls-cert: /etc/node.pem".
struct PemFile {
  std::string name;
  std::string text;
};

// Checks that each can be read, that the key belongs to the certificate and needs
// no passphrase, that the authority has signed it, and that both are valid `now`:
// kInput names the file, the date where it is about one, and the remedy. Returns a
// warning where one of them ends within a week, else an empty text.
absl::StatusOr<std::string> CheckCertificate(const PemFile& ca, const PemFile& cert,
                                             const PemFile& key, absl::Time now);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_CERTIFICATE_H_
