#include "tests/testing/tcp_relay.h"

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace grapevine::testing {
namespace {

constexpr int kBacklog = 64;

sockaddr_in OnLoopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

UniqueDescriptor NewSocket() {
  UniqueDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  PCHECK(made.open());
  return made;
}

}  // namespace

TcpRelay::TcpRelay(int target)
    : target_(target), listener_(NewSocket()), life_(std::numeric_limits<int64_t>::max()) {
  sockaddr_in address = OnLoopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  PCHECK(bind(listener_.get(), generic, size) == 0);
  PCHECK(listen(listener_.get(), kBacklog) == 0);
  PCHECK(getsockname(listener_.get(), generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

TcpRelay::~TcpRelay() {
  shutdown(listener_.get(), SHUT_RDWR);
  accepting_.join();
  Cut();
  MutexLock lock(mutex_);
  for (std::thread& pump : pumps_) pump.join();
}

void TcpRelay::Accept() {
  while (true) {
    UniqueDescriptor caller(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller.open()) return;
    refuses_ ? static_cast<void>(++refused_) : Relay(std::move(caller));
  }
}

void TcpRelay::Relay(UniqueDescriptor caller) {
  auto connection = std::make_shared<Connection>();
  connection->caller = std::move(caller);
  connection->called = NewSocket();
  connection->left = life_.load();
  const sockaddr_in address = OnLoopback(target_);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (connect(connection->called.get(), generic, sizeof(address)) != 0) return;
  const int caller_end = connection->caller.get(), called_end = connection->called.get();
  const int yes = 1;
  for (const int end : {caller_end, called_end}) {
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  ++connections_;
  MutexLock lock(mutex_);
  alive_.push_back(connection);
  pumps_.emplace_back(
      [this, connection, caller_end, called_end] { Pump(connection, caller_end, called_end); });
  pumps_.emplace_back(
      [this, connection, caller_end, called_end] { Pump(connection, called_end, caller_end); });
}

void TcpRelay::Pump(const std::shared_ptr<Connection>& connection, int from, int to) {
  std::array<char, 1 << 16> bytes;
  while (true) {
    const ssize_t got = read(from, bytes.data(), bytes.size());
    if (got <= 0) break;
    const int64_t before = connection->left.fetch_sub(got);
    const auto passed = static_cast<size_t>(std::clamp<int64_t>(before, 0, got));
    size_t sent = 0;
    while (sent < passed) {
      const ssize_t wrote = send(to, bytes.data() + sent, passed - sent, MSG_NOSIGNAL);
      if (wrote <= 0) break;
      sent += static_cast<size_t>(wrote);
    }
    if (before > 0 && before <= got) ++broken_;
    if (before <= got || sent < passed) break;
  }
  Break(*connection);
}

void TcpRelay::Break(const Connection& connection) {
  shutdown(connection.caller.get(), SHUT_RDWR);
  shutdown(connection.called.get(), SHUT_RDWR);
}

void TcpRelay::Cut() {
  std::vector<std::shared_ptr<Connection>> cut;
  {
    MutexLock lock(mutex_);
    cut = std::exchange(alive_, {});
  }
  for (const auto& connection : cut) Break(*connection);
}

}  // namespace grapevine::testing
