#include "node/grpc_credentials.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "node/host_address.h"
#include "run/failure.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

absl::Status UsageError(std::string_view message) {
  return WithFailure(absl::InvalidArgumentError(std::string(message)), Failure::kUsage);
}

absl::StatusOr<std::string> ReadPem(std::string_view flag, const std::string& path,
                                    std::string_view kind) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) {
    return WithFailure(absl::Status(file.status().code(),
                                    absl::StrCat(std::string(flag), ": ", file.status().message())),
                       Failure::kInput);
  }
  const std::span<const uint8_t> bytes = (*file)->bytes();
  std::string text(bytes.begin(), bytes.end());
  if (!absl::StrContains(text, "-----BEGIN ") ||
      !absl::StrContains(text, absl::StrCat(std::string(kind), "-----"))) {
    return WithFailure(absl::InvalidArgumentError(absl::StrCat(
                           std::string(flag), ": ", path, " holds no PEM ", std::string(kind),
                           "; docs/cluster.md shows how to make one")),
                       Failure::kInput);
  }
  return text;
}

}  // namespace

absl::StatusOr<GrpcCredentials> GrpcCredentials::Load(const TlsOptions& options) {
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
  const struct {
    std::string_view flag;
    const std::string& path;
    std::string_view kind;
    std::string* text;
  } files[] = {{"--tls-ca", options.ca, "CERTIFICATE", &credentials.ca_},
               {"--tls-cert", options.cert, "CERTIFICATE", &credentials.cert_},
               {"--tls-key", options.key, "PRIVATE KEY", &credentials.key_}};
  for (const auto& file : files) {
    absl::StatusOr<std::string> text = ReadPem(file.flag, file.path, file.kind);
    if (!text.ok()) return text.status();
    *file.text = *std::move(text);
  }
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
  if (absl::Status status = CheckAllowed("listening on", host); !status.ok()) return status;
  if (!tls()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = ca_;
  options.pem_key_cert_pairs.push_back({key_, cert_});
  return grpc::SslServerCredentials(options);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> GrpcCredentials::ForChannel(
    std::string_view host) const {
  if (absl::Status status = CheckAllowed("connecting to", host); !status.ok()) return status;
  if (!tls()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = ca_;
  options.pem_private_key = key_;
  options.pem_cert_chain = cert_;
  return grpc::SslCredentials(options);
}

}  // namespace grapevine
