#include "node/server/grpc_credentials.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "node/identity/host_address.h"
#include "node/server/certificates.h"

namespace grapevine {

absl::StatusOr<GrpcCredentials> GrpcCredentials::Load(const TlsOptions& options, absl::Time now) {
  GrpcCredentials credentials;
  credentials.insecure_ = options.insecure;
  credentials.names_ = options.names;
  const int given = !options.ca.empty() + !options.cert.empty() + !options.key.empty();
  if (given == 0 && options.names.given()) {
    return UsageError("--tls-identity needs --tls-ca, --tls-cert and --tls-key");
  }
  if (given == 0) return credentials;
  if (given < 3) {
    return UsageError(absl::StrCat(
        "TLS needs --tls-ca, --tls-cert and --tls-key together; missing:",
        options.ca.empty() ? " --tls-ca" : "", options.cert.empty() ? " --tls-cert" : "",
        options.key.empty() ? " --tls-key" : ""));
  }
  if (options.insecure) {
    return UsageError("--insecure and --tls-ca/--tls-cert/--tls-key exclude each other");
  }
  const absl::StatusOr<PemFile> ca = ReadPem("--tls-ca", options.ca);
  const absl::StatusOr<PemFile> cert = ReadPem("--tls-cert", options.cert);
  const absl::StatusOr<PemFile> key = ReadPem("--tls-key", options.key);
  for (const auto* file : {&ca, &cert, &key}) {
    if (!file->ok()) return file->status();
  }
  ASSIGN_OR_RETURN(credentials.warning_, CheckCertificate(*ca, *cert, *key, now));
  RETURN_IF_ERROR(CheckRankName(*cert, options.names, options.rank));
  credentials.ca_ = ca->text;
  credentials.cert_ = cert->text;
  credentials.key_ = key->text;
  return credentials;
}

absl::Status GrpcCredentials::CheckAllowed(std::string_view verb, std::string_view host) const {
  if (tls() || insecure_ || IsLoopback(host)) return absl::OkStatus();
  return UsageError(absl::StrCat(
      std::string(verb), " ", std::string(host),
      " without encryption is refused, because it is not this machine alone: give --tls-ca, "
      "--tls-cert and --tls-key, or --insecure on a network that you trust"));
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> GrpcCredentials::ForServer(
    std::string_view host) const {
  RETURN_IF_ERROR(CheckAllowed("listening on", host));
  if (!tls()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = ca_;
  options.pem_key_cert_pairs.push_back({key_, cert_});
  return grpc::SslServerCredentials(options);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> GrpcCredentials::ForChannel(
    std::string_view host) const {
  RETURN_IF_ERROR(CheckAllowed("connecting to", host));
  return ForPeers();
}

std::shared_ptr<grpc::ChannelCredentials> GrpcCredentials::ForPeers() const {
  if (!tls()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = ca_;
  options.pem_private_key = key_;
  options.pem_cert_chain = cert_;
  return grpc::SslCredentials(options);
}

void RequireRank(const RankNames& names, Rank rank, grpc::ChannelArguments* arguments) {
  if (names.given()) arguments->SetSslTargetNameOverride(names.Of(rank));
}

bool IsCertified(const RankNames& names, const grpc::ServerContextBase& caller, Rank rank) {
  if (!names.given()) return true;
  const std::shared_ptr<const grpc::AuthContext> auth = caller.auth_context();
  // Where certificates name ranks, the server takes no connection without one (GrpcCredentials).
  const bool within_the_process = !auth->IsPeerAuthenticated();
  if (within_the_process) return true;
  const std::string name = names.Of(rank);
  return std::ranges::any_of(auth->FindPropertyValues(GRPC_X509_SAN_PROPERTY_NAME),
                             [&](const grpc::string_ref& san) { return san == name; });
}

}  // namespace grapevine
