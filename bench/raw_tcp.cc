#include "bench/raw_tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace grapevine {
namespace {

constexpr size_t kCall = size_t{1} << 20;

int Checked(ssize_t result, const char* what) {
  if (result >= 0) return static_cast<int>(result);
  std::perror(what);
  std::_Exit(1);
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

void NoDelay(int connection) {
  const int on = 1;
  Checked(setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "setsockopt");
}

}  // namespace

RawTcp::RawTcp() : listener_(Checked(socket(AF_INET, SOCK_STREAM, 0), "socket")) {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  Checked(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), "bind");
  Checked(listen(listener_, 1), "listen");
  Checked(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port_ = ntohs(address.sin_port);
}

void RawTcp::Accept() {
  connection_ = Checked(accept(listener_, nullptr, nullptr), "accept");
  NoDelay(connection_);
}

void RawTcp::Connect(int port) {
  connection_ = Checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
  const sockaddr_in address = Loopback(port);
  Checked(connect(connection_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
          "connect");
  NoDelay(connection_);
}

void RawTcp::Send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t call = std::min(bytes.size(), kCall);
    bytes = bytes.subspan(
        static_cast<size_t>(Checked(send(connection_, bytes.data(), call, 0), "send")));
  }
}

void RawTcp::Receive(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t call = std::min(bytes.size(), kCall);
    const int got = Checked(recv(connection_, bytes.data(), call, 0), "recv");
    if (got == 0) std::_Exit(1);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

}  // namespace grapevine
