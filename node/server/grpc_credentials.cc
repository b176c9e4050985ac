#include "node/server/grpc_credentials.h"

#include <grpc/grpc_security_constants.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "node/identity/host_address.h"
#include "system/file.h"

namespace grapevine {

namespace {

// Whether a node's certificate, key and authority are usable, before anyone dials.
//
// What OpenSSL says of them in a handshake reaches nobody: one side sees a closed socket, and
// cannot tell which of the two is at fault. So each node checks its own.

// A file as text, and how to name it: "--tls-cert: /etc/node.pem".
struct PemFile {
  std::string name;
  std::string text;
};

// Checks that each can be read, that the key belongs to the certificate and needs no passphrase,
// that the authority has signed it, and that both are valid `now`: kInput names the file, the date
// where it is about one, and the remedy. Returns a warning where one of them expires within a week,
// else an empty text.
absl::StatusOr<std::string> CheckCertificate(const PemFile& ca, const PemFile& cert,
                                             const PemFile& key, absl::Time now);

constexpr absl::Duration kNear = absl::Hours(24 * 7);

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
void FreeStack(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }

using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Stack = std::unique_ptr<STACK_OF(X509), Free<FreeStack>>;
using Store = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using Verification = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;

absl::Status Unfit(const PemFile& file, std::string_view what) {
  ERR_clear_error();
  return InputError(absl::StrCat(file.name, " ", std::string(what)));
}

Bio Reader(const PemFile& file) {
  return Bio(BIO_new_mem_buf(file.text.data(), static_cast<int>(file.text.size())));
}

// All certificates of a file: the first is the node's, or an authority.
absl::StatusOr<std::vector<Certificate>> Certificates(const PemFile& file) {
  const Bio reader = Reader(file);
  std::vector<Certificate> certificates;
  while (X509* one = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(one);
  }
  if (certificates.empty()) {
    return Unfit(file,
                 "holds no PEM CERTIFICATE that can be read; docs/cluster.md shows how to "
                 "make one");
  }
  ERR_clear_error();  // the end of the file
  return certificates;
}

// Nobody is there to type a passphrase.
int NoPassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 0;
}

absl::StatusOr<Key> PrivateKey(const PemFile& file) {
  bool asked = false;
  Key key(PEM_read_bio_PrivateKey(Reader(file).get(), nullptr, NoPassphrase, &asked));
  if (key != nullptr) return key;
  if (asked || absl::StrContains(file.text, "ENCRYPTED")) {
    return Unfit(file,
                 "is encrypted, and a node has nobody to ask for its passphrase; write it "
                 "without one (openssl pkey -in KEY -out PLAIN) where nobody else can read");
  }
  return Unfit(file,
               "holds no PEM PRIVATE KEY that can be read; docs/cluster.md shows how to make "
               "one");
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

std::string Date(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

// Whether it is valid `now`, and a warning if not for long.
absl::StatusOr<std::string> CheckDates(const PemFile& file, const X509& certificate,
                                       absl::Time now) {
  const absl::Time begin = TimeOf(X509_get0_notBefore(&certificate));
  const absl::Time end = TimeOf(X509_get0_notAfter(&certificate));
  if (now < begin) {
    return Unfit(file, absl::StrCat("is not valid before ", Date(begin),
                                    "; is the clock of this machine right (", Date(now), ")?"));
  }
  if (now > end) {
    return Unfit(
        file, absl::StrCat("expired on ", Date(end), "; make a new one as docs/cluster.md shows"));
  }
  if (end - now > kNear) return std::string();
  return absl::StrCat(file.name, " expires on ", Date(end),
                      "; connections that begin later will fail");
}

// The certificates from the node's to the authority that vouches for it.
absl::StatusOr<std::vector<Certificate>> ChainToAuthority(
    const PemFile& cert, const std::vector<Certificate>& own,
    const std::vector<Certificate>& authorities) {
  const Store store(X509_STORE_new());
  for (const Certificate& authority : authorities) {
    X509_STORE_add_cert(store.get(), authority.get());
  }
  const Stack between(sk_X509_new_null());
  for (size_t i = 1; i < own.size(); ++i) {
    X509_up_ref(own[i].get());
    sk_X509_push(between.get(), own[i].get());
  }
  const Verification verification(X509_STORE_CTX_new());
  X509_STORE_CTX_init(verification.get(), store.get(), own.front().get(), between.get());
  // CheckDates says when.
  X509_STORE_CTX_set_flags(verification.get(), X509_V_FLAG_NO_CHECK_TIME);
  if (X509_verify_cert(verification.get()) != 1) {
    const int error = X509_STORE_CTX_get_error(verification.get());
    return Unfit(cert,
                 absl::StrCat("is not signed by --tls-ca: ", X509_verify_cert_error_string(error)));
  }
  const Stack chain(X509_STORE_CTX_get1_chain(verification.get()));
  std::vector<Certificate> certificates;
  while (sk_X509_num(chain.get()) > 0) certificates.emplace_back(sk_X509_shift(chain.get()));
  return certificates;
}

absl::StatusOr<std::string> CheckCertificate(const PemFile& ca, const PemFile& cert,
                                             const PemFile& key, absl::Time now) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> authorities, Certificates(ca));
  ASSIGN_OR_RETURN(const std::vector<Certificate> own, Certificates(cert));
  ASSIGN_OR_RETURN(const Key secret, PrivateKey(key));
  if (X509_check_private_key(own.front().get(), secret.get()) != 1) {
    return Unfit(key, absl::StrCat("and ", cert.name, " do not belong together"));
  }
  ASSIGN_OR_RETURN(const std::vector<Certificate> chain, ChainToAuthority(cert, own, authorities));
  std::string warning;
  for (const Certificate& one : chain) {
    const bool from_ca = &one == &chain.back() && chain.size() > 1;
    ASSIGN_OR_RETURN(std::string soon, CheckDates(from_ca ? ca : cert, *one, now));
    if (warning.empty()) warning = std::move(soon);
  }
  return warning;
}

// That others will take this node for the rank that it is.
absl::Status CheckName(const PemFile& cert, const RankNames& names, Rank rank) {
  if (!names.given()) return absl::OkStatus();
  const std::string name = names.Of(rank);
  ASSIGN_OR_RETURN(const std::vector<Certificate> own, Certificates(cert));
  constexpr unsigned int kExactly =
      X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
  if (X509_check_host(own.front().get(), name.data(), name.size(), kExactly, nullptr) == 1) {
    return absl::OkStatus();
  }
  return Unfit(cert,
               absl::StrCat("does not name rank ", rank, " as --tls-identity demands: DNS:", name,
                            " is not in its subjectAltName; tools/make_certificates makes one "
                            "certificate for each rank"));
}

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
  RETURN_IF_ERROR(CheckName(*cert, options.names, options.rank));
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
