#include "node/telemetry/http_server.h"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "system/file_descriptor.h"

namespace grapevine {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

// The time from a failed attempt to accept a connection to the next attempt.
constexpr std::chrono::milliseconds kPause{100};

std::string_view PathOf(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  return target.substr(0, target.find('?'));
}

// Returns the value of the request's Host field if it is none of `hosts`. Every browser sends one.
std::optional<std::string_view> StrangeHost(const Request& request, const OwnHosts& hosts) {
  const auto field = request.find(http::field::host);
  if (field == request.end()) return std::nullopt;
  const std::string_view host(field->value().data(), field->value().size());
  return hosts.Have(host) ? std::nullopt : std::optional(host);
}

HttpAnswer AnswerTo(const Request& request, const OwnHosts& hosts,
                    const HttpServer::Answer& answer) {
  if (const auto host = StrangeHost(request, hosts)) {
    return {.status = 421, .body = hosts.Refusal(*host)};
  }
  const bool reads = request.method() == http::verb::get || request.method() == http::verb::head;
  return reads ? answer(PathOf(request)) : HttpAnswer{.status = 405, .body = "GET only\n"};
}

Response ResponseTo(const Request& request, HttpAnswer answer) {
  Response response(http::int_to_status(answer.status), request.version());
  response.set(http::field::content_type, answer.type);
  response.keep_alive(false);
  response.body() = std::move(answer.body);
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

// One connection, from its request to the end of the answer. Its pending operation keeps it alive.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const HttpServerOptions& options, const OwnHosts& hosts,
             const HttpServer::Answer& answer)
      : stream_(std::move(socket)), buffer_(options.request_bytes), hosts_(hosts), answer_(answer) {
    parser_.header_limit(static_cast<uint32_t>(options.request_bytes));
    stream_.expires_after(options.patience);
  }

  void Serve() {
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](beast::error_code error, size_t) {
                       if (!error) self->Reply();
                     });
  }
  void End() { stream_.close(); }

 private:
  void Reply() {
    response_ = ResponseTo(parser_.get(), AnswerTo(parser_.get(), hosts_, answer_));
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, size_t) {
                        beast::error_code ignored;
                        if (!error)
                          self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  Response response_;
  const OwnHosts& hosts_;
  const HttpServer::Answer& answer_;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(ListeningSockets sockets, HttpServerOptions options, OwnHosts hosts, Answer answer)
      : sockets_(std::move(sockets)),
        options_(options),
        hosts_(std::move(hosts)),
        answer_(std::move(answer)) {
    for (const UniqueDescriptor& socket : sockets_.descriptors) {
      // The protocol matters only for opening and binding, which are done.
      acceptors_.emplace_back(io_, tcp::v4(), socket.get());
    }
    for (tcp::acceptor& acceptor : acceptors_) AcceptFrom(acceptor);
    const SignalsAreForOthers meanwhile;
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Impl() {
    io_.stop();
    thread_.join();
    for (tcp::acceptor& acceptor : acceptors_) acceptor.release();  // they are sockets_'
  }

  int port() const { return sockets_.port; }

 private:
  void AcceptFrom(tcp::acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](beast::error_code error, tcp::socket socket) {
      if (!error) Take(std::move(socket));
      error ? AcceptLater(acceptor) : AcceptFrom(acceptor);
    });
  }
  // Accepts again after a pause. If the process has no descriptor left, the pending connection
  // stays pending, and without a pause this would be a busy loop.
  void AcceptLater(tcp::acceptor& acceptor) {
    auto timer = std::make_shared<asio::steady_timer>(io_, kPause);
    timer->async_wait([this, &acceptor, timer](beast::error_code) { AcceptFrom(acceptor); });
  }

  void Take(tcp::socket socket) {
    std::erase_if(open_, [](const auto& connection) { return connection.expired(); });
    if (open_.size() >= options_.connections) {
      if (const auto oldest = open_.front().lock()) oldest->End();
      open_.pop_front();
    }
    const auto connection =
        std::make_shared<Connection>(std::move(socket), options_, hosts_, answer_);
    open_.push_back(connection);
    connection->Serve();
  }

  const ListeningSockets sockets_;
  const HttpServerOptions options_;
  const OwnHosts hosts_;
  const Answer answer_;
  asio::io_context io_{1};
  std::vector<tcp::acceptor> acceptors_;
  std::deque<std::weak_ptr<Connection>> open_;  // the oldest first
  std::thread thread_;
};

HttpServer::HttpServer(ListeningSockets sockets, HttpServerOptions options, OwnHosts hosts,
                       Answer answer)
    : impl_(std::make_unique<Impl>(std::move(sockets), options, std::move(hosts),
                                   std::move(answer))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->port(); }

}  // namespace grapevine
