// A client of HTTP servers on loopback, for tests, that can also misbehave.
#ifndef GRAPEVINE_TESTS_TESTING_HTTP_CLIENT_H_
#define GRAPEVINE_TESTS_TESTING_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "system/file_descriptor.h"

namespace grapevine::testing {

// One connection. Thread-compatible.
class HttpConnection {
 public:
  // Not open where nobody listens at that port.
  explicit HttpConnection(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      socket_.Close();
    }
  }

  bool open() const { return socket_.open(); }
  // The other end may have hung up.
  void Say(std::string_view bytes) const {
    (void)!send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // All that the other end says until it hangs up, which it is to do.
  std::string Hear() const {
    std::string heard;
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = recv(socket_.get(), buffer.data(), buffer.size(), 0)) > 0) {
      heard.append(buffer.data(), static_cast<size_t>(got));
    }
    EXPECT_TRUE(got == 0 || errno == ECONNRESET) << "nobody hangs up";
    return heard;
  }

 private:
  UniqueDescriptor socket_;
};

struct HttpReply {
  int status = 0;  // 0: no answer
  std::string head, body;
};

// What is there at a path; its query included.
inline HttpReply HttpGet(int port, const std::string& path) {
  const HttpConnection connection(port);
  if (!connection.open()) return {};
  // An answer to HTTP/1.0 has no chunks.
  connection.Say("GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n");
  const std::string answer = connection.Hear();
  const size_t end = answer.find("\r\n\r\n");
  constexpr std::string_view kVersion = "HTTP/1.0 ";
  if (!answer.starts_with(kVersion) || end == std::string::npos) return {};
  return {.status = std::stoi(answer.substr(kVersion.size(), 3)),
          .head = answer.substr(0, end),
          .body = answer.substr(end + 4)};
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_HTTP_CLIENT_H_
