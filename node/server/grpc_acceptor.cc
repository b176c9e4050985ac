#include "node/server/grpc_acceptor.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace grapevine {
namespace {

// For files, and for connections that this node begins.
constexpr int kKept = 128;
constexpr int kStrangers = 1024;
constexpr int kForEachNode = 4;
// When the system has no descriptor, it may have one later.
constexpr int kPauseMs = 100;

}  // namespace

int GrpcAcceptor::MaxDescriptors(int nodes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kStrangers;
  const auto wanted = static_cast<rlim_t>(kStrangers) + static_cast<rlim_t>(nodes) * kForEachNode;
  const auto there = static_cast<int>(std::min(limit.rlim_cur, wanted + kKept));
  // Of very few, half.
  return std::max(there - kKept, there / 2);
}

absl::StatusOr<std::unique_ptr<GrpcAcceptor>> GrpcAcceptor::Make(
    ListeningSockets sockets, int max_descriptors, grpc::ServerBuilder& builder,
    std::shared_ptr<grpc::ServerCredentials> credentials) {
  int stop[2];
  if (pipe2(stop, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  std::unique_ptr<GrpcAcceptor> door(new GrpcAcceptor(
      std::move(sockets), max_descriptors, UniqueDescriptor(stop[0]), UniqueDescriptor(stop[1])));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  door->acceptor_ =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
  return door;
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
    // Who waits goes on waiting: without a pause this would be a loop that never rests.
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
