#include "node/server/grpc_acceptor.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status CannotListen(const HostAddress& address, const std::string& reason) {
  return WithFailure(absl::UnavailableError(absl::StrCat(
                         "cannot listen on ", FormatHostAddress(address), ": ", reason,
                         "; choose another address or port with --bind, rank 0's port with "
                         "--master-port on all ranks")),
                     Failure::kRendezvous);
}

void Set(const UniqueDescriptor& socket, int level, int option, int value) {
  (void)setsockopt(socket.get(), level, option, &value, sizeof(value));
}

int PortOf(const UniqueDescriptor& socket) {
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

// An invalid descriptor, with errno, when the address is not available.
UniqueDescriptor Listen(const addrinfo& at, int port, std::chrono::milliseconds timeout) {
  UniqueDescriptor listener(socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.get() < 0) return listener;
  // A port in TIME_WAIT is not taken.
  Set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  // The following options are inherited by the connections.
  Set(listener, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout.count()));
  if (at.ai_family == AF_INET6) Set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_storage address{};
  std::memcpy(&address, at.ai_addr, at.ai_addrlen);
  reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<uint16_t>(port));
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), at.ai_addrlen) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    return UniqueDescriptor();
  }
  return listener;
}

// For files, and for connections that this node dials.
constexpr int kKept = 128;
constexpr int kUnauthenticated = 1024;
constexpr int kForEachNode = 4;
// When the system has no descriptor, it may have one later.
constexpr int kPauseMs = 100;

}  // namespace

absl::StatusOr<ListeningSockets> ListenOn(const HostAddress& address,
                                          std::chrono::milliseconds timeout) {
  const bool everywhere = IsEverywhere(address.host);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(everywhere ? nullptr : address.host.c_str(), "0", &hints, &found);
  if (error != 0) return CannotListen(address, gai_strerror(error));
  const Addresses addresses(found, freeaddrinfo);
  ListeningSockets sockets{.descriptors = {}, .port = address.port};
  int reason = 0;
  // The IPv6 wildcard takes IPv4 too; where it is available the other is not needed.
  for (const bool wanted_v6 : {true, false}) {
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
      if ((at->ai_family == AF_INET6) != wanted_v6) continue;
      if (everywhere && !sockets.descriptors.empty()) break;
      UniqueDescriptor listener = Listen(*at, sockets.port, timeout);
      if (listener.get() < 0) {
        reason = errno;
        if (reason == EADDRINUSE) return CannotListen(address, std::strerror(reason));
        continue;
      }
      sockets.port = PortOf(listener);
      sockets.descriptors.push_back(std::move(listener));
    }
  }
  if (sockets.descriptors.empty()) return CannotListen(address, std::strerror(reason));
  return sockets;
}

int GrpcAcceptor::MaxDescriptors(int nodes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kUnauthenticated;
  const auto wanted =
      static_cast<rlim_t>(kUnauthenticated) + static_cast<rlim_t>(nodes) * kForEachNode;
  const auto there = static_cast<int>(std::min(limit.rlim_cur, wanted + kKept));
  // If there are very few, half of them.
  return std::max(there - kKept, there / 2);
}

absl::StatusOr<std::unique_ptr<GrpcAcceptor>> GrpcAcceptor::Make(
    ListeningSockets sockets, int max_descriptors, grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials) {
  int stop[2];
  if (pipe2(stop, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  std::unique_ptr<GrpcAcceptor> made(new GrpcAcceptor(
      std::move(sockets), max_descriptors, UniqueDescriptor(stop[0]), UniqueDescriptor(stop[1])));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  made->acceptor_ =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
  return made;
}

GrpcAcceptor::GrpcAcceptor(ListeningSockets sockets, int max_descriptors,
                           UniqueDescriptor stop_read, UniqueDescriptor stop_write)
    : sockets_(std::move(sockets)),
      most_descriptors_(max_descriptors),
      stop_read_(std::move(stop_read)),
      stop_write_(std::move(stop_write)) {}

void GrpcAcceptor::Open() {
  thread_ = std::thread([this] { Serve(); });
}

void GrpcAcceptor::Close() {
  stop_write_ = UniqueDescriptor();
  if (thread_.joinable()) thread_.join();
}

void GrpcAcceptor::Serve() {
  std::vector<pollfd> polled = {{stop_read_.get(), POLLIN, 0}};
  for (const UniqueDescriptor& listener : sockets_.descriptors) {
    polled.push_back({listener.get(), POLLIN, 0});
  }
  while (true) {
    (void)poll(polled.data(), polled.size(), -1);
    if (polled.front().revents != 0) return;
    bool no_descriptor = false;
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      Attempt attempt = Attempt::kAgain;
      while (attempt == Attempt::kAgain) attempt = AcceptOne(polled[i].fd);
      no_descriptor = no_descriptor || attempt == Attempt::kNoDescriptor;
    }
    // The pending connection stays pending: without a pause this would be a busy loop.
    if (no_descriptor) (void)poll(polled.data(), 1, kPauseMs);
  }
}

GrpcAcceptor::Attempt GrpcAcceptor::AcceptOne(int listener) {
  const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) {
    if (errno == EINTR || errno == ECONNABORTED) return Attempt::kAgain;
    return errno == EMFILE || errno == ENFILE ? Attempt::kNoDescriptor : Attempt::kNobodyWaits;
  }
  // The system gives the lowest number that is free.
  if (connection >= most_descriptors_) {
    close(connection);
    LOG_EVERY_T(WARNING, 1) << "rejected a connection: " << most_descriptors_
                            << " descriptors are in use";
    return Attempt::kAgain;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
  taken.listener_fd = listener;
  taken.fd = connection;
  acceptor_->HandleNewConnection(&taken);
  return Attempt::kAgain;
}

}  // namespace grapevine
