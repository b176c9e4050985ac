#include "node/server/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "system/file.h"

namespace grapevine {
namespace {

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

// Returns all certificates of a file: the first is the node's, or an authority.
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

// Refuses a passphrase, since a node has nobody to ask, and notes in `asked` that one is needed.
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

// Checks that `certificate` is valid `now`; returns a warning if it expires soon.
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

// Returns the certificates from the node's to that of the authority that vouches for it.
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
  // CheckDates checks the dates, with a better message.
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

}  // namespace

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

absl::Status CheckRankName(const PemFile& cert, const RankNames& names, Rank rank) {
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

absl::Status CheckAuthority(const PemFile& ca, const PemFile& cert) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> authorities, Certificates(ca));
  ASSIGN_OR_RETURN(const std::vector<Certificate> own, Certificates(cert));
  return ChainToAuthority(cert, own, authorities).status();
}

absl::Status CheckHostName(const PemFile& cert, const std::string& host) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> own, Certificates(cert));
  if (X509_check_ip_asc(own.front().get(), host.c_str(), 0) == 1 ||
      X509_check_host(own.front().get(), host.data(), host.size(), 0, nullptr) == 1) {
    return absl::OkStatus();
  }
  return Unfit(cert, absl::StrCat("does not name ", host,
                                  " in its subjectAltName; make one that does, or certificates "
                                  "that name ranks (--tls-identity)"));
}

}  // namespace grapevine
