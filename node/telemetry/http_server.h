// HttpServer answers HTTP GET at a few paths, to clients that ask for it by one of its own names.
// It is cheap: one thread, a bounded number of connections, one request on each, a deadline for it.
//
// prometheus-cpp's own server answers at no other path. A server with a thread for each connection
// would not do either: a few clients that send nothing would keep the others out.
#ifndef GRAPEVINE_NODE_TELEMETRY_HTTP_SERVER_H_
#define GRAPEVINE_NODE_TELEMETRY_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "node/server/listening_sockets.h"
#include "node/telemetry/own_hosts.h"

namespace grapevine {

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpServerOptions {
  // The limits on what strangers can make the server hold: the number of connections, beyond which
  // the oldest is ended, and the bytes of each connection's request, which has no body.
  size_t connections = 32;
  size_t request_bytes = 8192;
  // The time from the beginning of a connection to the end of its answer.
  std::chrono::milliseconds patience{5000};
};

// Serves until it is destroyed. Thread-compatible.
class HttpServer {
 public:
  // Returns the answer for a path without its query. Called on the server's thread, one call at a
  // time; must not wait for long.
  using Answer = std::function<HttpAnswer(std::string_view path)>;

  // Starts to serve. A client that asks by a name that is none of `hosts` gets 421.
  HttpServer(ListeningSockets sockets, HttpServerOptions options, OwnHosts hosts, Answer answer);
  ~HttpServer();

  int port() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TELEMETRY_HTTP_SERVER_H_
