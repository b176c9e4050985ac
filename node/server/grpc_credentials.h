// GrpcCredentials decides who may talk to a node, by mutual TLS, or without any check on loopback.
// RequireRank and IsCertified check that a peer is the rank that its certificate names.
//
// Both ends show a certificate signed by the same authority, so that nobody else can join a run or
// read its messages. Without certificates only loopback is allowed, unless the user says
// --insecure.
//
// Thread-safety: immutable after Load; functions are pure.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_CREDENTIALS_H_
#define GRAPEVINE_NODE_SERVER_GRPC_CREDENTIALS_H_

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "node/identity/authentication.h"

namespace grapevine {

struct TlsOptions {
  std::string ca;    // --tls-ca: PEM, the authority's certificate
  std::string cert;  // --tls-cert: PEM, this node's certificate, with its host in subjectAltName
  std::string key;   // --tls-key: PEM, its private key
  bool insecure = false;  // --insecure: plain text also off loopback
  // --tls-identity: the names by which certificates name ranks; this node's must name `rank`.
  RankNames names = {};
  Rank rank = 0;
};

class GrpcCredentials {
 public:
  // Plain text, on loopback only.
  GrpcCredentials() = default;

  // Loads all three files or none. Returns kUsage if some are missing or they contradict
  // --insecure, kInput with the file's name if one cannot be read or used `now`.
  static absl::StatusOr<GrpcCredentials> Load(const TlsOptions& options,
                                              absl::Time now = absl::Now());

  bool tls() const { return !ca_.empty(); }
  // The names by which certificates name ranks.
  const RankNames& names() const { return names_; }
  // What will soon be wrong with the files; empty if nothing will.
  const std::string& warning() const { return warning_; }

  // Return the credentials for a server that listens on `host`, and for a channel to `host`. kUsage
  // if `host` is not loopback and neither TLS nor --insecure was given.
  absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ForServer(std::string_view host) const;
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ForChannel(std::string_view host) const;
  // Returns the credentials for channels to the other nodes, at whatever addresses rank 0 names.
  // For a node whose server ForServer has allowed.
  std::shared_ptr<grpc::ChannelCredentials> ForPeers() const;

 private:
  absl::Status CheckAllowed(std::string_view verb, std::string_view host) const;

  std::string ca_, cert_, key_;  // PEM texts
  bool insecure_ = false;
  RankNames names_;
  std::string warning_;
};

// Makes the channel's handshake fail unless the certificate of the node that answers names `rank`,
// whatever its address. Without names (RankNames), any node with a certificate of the authority may
// be any rank.
void RequireRank(const RankNames& names, Rank rank, grpc::ChannelArguments* arguments);

// Returns whether the caller's certificate names `rank`. True for calls within the process, and
// without names (RankNames).
bool IsCertified(const RankNames& names, const grpc::ServerContextBase& caller, Rank rank);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_CREDENTIALS_H_
