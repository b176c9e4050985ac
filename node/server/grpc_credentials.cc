#include "node/server/grpc_credentials.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "node/identity/host_address.h"
#include "node/server/certificate.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

absl::StatusOr<PemFile> ReadPem(std::string_view flag, const std::string& path) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) {
    return WithFailure(absl::Status(file.status().code(),
                                    absl::StrCat(std::string(flag), ": ", file.status().message())),
                       Failure::kInput);
  }
  const std::span<const uint8_t> bytes = (*file)->bytes();
  return PemFile{.name = absl::StrCat(std::string(flag), ": ", path),
                 .text = std::string(bytes.begin(), bytes.end())};
}

}  // namespace

absl::StatusOr<GrpcCredentials> GrpcCredentials::Load(const TlsOptions& options, absl::Time now) {
  GrpcCredentials credentials;
  credentials.insecure_ = options.insecure;
  const int given = !options.ca.empty() + !options.cert.empty() + !options.key.empty();
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

}  // namespace grapevine
