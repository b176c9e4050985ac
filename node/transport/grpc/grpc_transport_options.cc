#include "node/transport/grpc/grpc_transport_options.h"

#include <grpcpp/resource_quota.h>

#include "node/identity/host_address.h"
#include "node/server/grpc_keepalive.h"
#include "node/transport/edge/wire_format.h"

namespace grapevine {
namespace {

// Estimating the bandwidth-delay product costs more than it gains on a path without delay.
constexpr char kBdpProbe[] = "grpc.http2.bdp_probe";

// Bytes that all connections to a server together may hold in gRPC's buffers.
constexpr size_t kServerQuota = size_t{256} << 20;

// Threads for the services that hold a thread for a call: health and reflection.
constexpr int kServerThreads = 16;

// The HTTP/2 frame size with which a chunk of the usual size goes in one frame, instead of in 16
// KiB pieces, each with a header to write and to parse.
constexpr int kFrameBytes = (1 << 20) + (64 << 10);

bool IsLoopbackAddress(const std::string& address) {
  const absl::StatusOr<HostAddress> parsed = ParseHostAddress(address);
  return parsed.ok() && IsLoopback(parsed->host);
}

}  // namespace

grpc::ChannelArguments TransportChannelArguments(const std::string& address,
                                                 std::chrono::milliseconds peer_timeout) {
  grpc::ChannelArguments arguments;
  SetKeepalive(peer_timeout, &arguments);
  // One connection for each edge, so that no edge waits for another's bytes.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kMaxControlBytes));
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  if (IsLoopbackAddress(address)) arguments.SetInt(kBdpProbe, 0);
  return arguments;
}

void ApplyServerArguments(grpc::ServerBuilder& builder, bool loopback) {
  grpc::ResourceQuota quota("grapevine");
  quota.Resize(kServerQuota);
  quota.SetMaxThreads(kServerThreads);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(GrpcTransportOptions::kMaxChunkBytes + kMaxControlBytes));
  // A small message could inflate to gigabytes.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 16);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  if (loopback) builder.AddChannelArgument(kBdpProbe, 0);
}

}  // namespace grapevine
