#include "node/telemetry/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tests/testing/http_client.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::HttpConnection;
using testing::HttpGet;
using ::testing::Not;
using ::testing::StartsWith;

const OwnHosts kOwn{.listens = "127.0.0.1", .advertised = "node3", .flag = "--a-flag"};

HttpAnswer AnswerAt(std::string_view path) {
  if (path == "/long") return {.body = std::string(32 << 20, 'x')};
  if (path != "/here") return {.status = 404, .body = "nothing\n"};
  return {.type = "text/x-test", .body = "here\n"};
}

std::unique_ptr<HttpServer> Serve(HttpServerOptions options) {
  absl::StatusOr<ListeningSockets> sockets =
      ListenOn({"127.0.0.1", 0}, std::chrono::seconds(5), "no remedy");
  EXPECT_TRUE(sockets.ok()) << sockets.status();
  return std::make_unique<HttpServer>(*std::move(sockets), options, kOwn, AnswerAt);
}

// Nothing ends by itself.
constexpr HttpServerOptions kPatient{.patience = std::chrono::hours(1)};
constexpr HttpServerOptions kImpatient{.patience = std::chrono::milliseconds(50)};

TEST(HttpServer, AnswersAtItsPaths) {
  const auto server = Serve(kPatient);
  const auto reply = HttpGet(server->port(), "/here?with=query");
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.head,
              AllOf(HasSubstr("Content-Type: text/x-test"), HasSubstr("Content-Length: 5")));
  EXPECT_EQ(reply.body, "here\n");
  EXPECT_EQ(HttpGet(server->port(), "/elsewhere").status, 404);
}

// The kernel gives a signal to any thread that does not block it: a rank 0 that served its run's
// page was killed by SIGTERM, without its last checkpoint.
TEST(HttpServer, ItsThreadTakesNoSignal) {
  absl::StatusOr<ListeningSockets> sockets =
      ListenOn({"127.0.0.1", 0}, std::chrono::seconds(5), "no remedy");
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  const HttpServer server(*std::move(sockets), kPatient, kOwn, [](std::string_view) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    std::string taken;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
      if (sigismember(&blocked, signal) == 0) taken += std::to_string(signal) + " ";
    }
    return HttpAnswer{.body = "takes: " + taken};
  });
  EXPECT_EQ(HttpGet(server.port(), "/").body, "takes: ");
}

TEST(HttpServer, OnlyReads) {
  const auto server = Serve(kPatient);
  HttpConnection post(server->port());
  post.Say("POST /here HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(post.Hear(), StartsWith("HTTP/1.1 405 "));
  HttpConnection head(server->port());
  head.Say("HEAD /here HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string answer = head.Hear();
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Length: 5\r\n")));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

// A page of evil.example, whose name has been made to lead here, must not read the answer.
TEST(HttpServer, AnswersByItsOwnNamesAlone) {
  const auto server = Serve(kPatient);
  const auto ask = [&server](const std::string& host) {
    const HttpConnection connection(server->port());
    connection.Say("GET /here HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return connection.Hear();
  };
  for (const char* own :
       {"localhost", "localhost:8080", "LOCALHOST", "127.0.0.1:9400", "[::1]:9400", "node3:9400"}) {
    EXPECT_THAT(ask(own), StartsWith("HTTP/1.1 200 ")) << own;
  }
  for (const char* strange : {"evil.example", "evil.example:8080", "localhost.evil.example",
                              "127.0.0.1.evil.example", "10.0.0.4:9400", ":9400"}) {
    const std::string answer = ask(strange);
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 421 "), HasSubstr("ask at 127.0.0.1, or name "
                                                                     "it in --a-flag=HOST:PORT")))
        << strange;
    EXPECT_THAT(answer, Not(HasSubstr("here\n"))) << strange;
  }
}

TEST(HttpServer, OneRequestOnAConnection) {
  const auto server = Serve(kPatient);
  HttpConnection both(server->port());
  const std::string request = "GET /here HTTP/1.1\r\nHost: localhost\r\n\r\n";
  both.Say(request + request);
  const std::string answers = both.Hear();
  EXPECT_EQ(answers.find("HTTP/1.1"), answers.rfind("HTTP/1.1")) << answers;
}

TEST(HttpServer, WhatIsNoRequestEndsTheConnection) {
  const auto server = Serve(kPatient);
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x02 no request at all\r\n\r\n"), std::string(64, '\0'),
        std::string("GET /here HTTP/1.1\r\nContent-Length: many\r\n\r\n"),
        std::string("POST /here HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
        std::string("GET /here HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n")}) {
    HttpConnection stranger(server->port());
    stranger.Say(bytes);
    EXPECT_EQ(stranger.Hear(), "");
  }
  EXPECT_EQ(HttpGet(server->port(), "/here").status, 200);
}

TEST(HttpServer, AHeaderWithoutEndEndsTheConnection) {
  const auto server = Serve(kPatient);
  HttpConnection stranger(server->port());
  stranger.Say("GET /here HTTP/1.1\r\n");
  for (size_t said = 0; said < 1 << 20; said += 1024) {
    stranger.Say("X: " + std::string(1019, 'x') + "\r\n");
  }
  EXPECT_EQ(stranger.Hear(), "");
  HttpConnection line(server->port());
  line.Say("GET /" + std::string(1 << 16, 'x'));
  EXPECT_EQ(line.Hear(), "");
  EXPECT_EQ(HttpGet(server->port(), "/here").status, 200);
}

TEST(HttpServer, WhoSaysNothingKeepsNobodyOut) {
  const auto server = Serve(kPatient);
  std::vector<HttpConnection> silent;
  for (size_t i = 0; i < 3 * kPatient.connections; ++i) {
    silent.emplace_back(server->port()).Say("GET /he");
    ASSERT_TRUE(silent.back().open());
    ASSERT_EQ(HttpGet(server->port(), "/here").status, 200) << "beside " << silent.size();
  }
  EXPECT_EQ(silent.front().Hear(), "");
}

TEST(HttpServer, WhoIsSlowIsNotWaitedFor) {
  const auto server = Serve(kImpatient);
  HttpConnection silent(server->port());
  EXPECT_EQ(silent.Hear(), "");
  HttpConnection half(server->port());
  half.Say("GET /here HT");
  EXPECT_EQ(half.Hear(), "");
}

// More than a system keeps for one who does not read.
TEST(HttpServer, WhoDoesNotReadIsNotWaitedFor) {
  auto server = Serve(kImpatient);
  HttpConnection deaf(server->port());
  deaf.Say("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // Until its time is over.
  HttpConnection silent(server->port());
  EXPECT_EQ(silent.Hear(), "");
  EXPECT_LT(deaf.Hear().size(), size_t{32} << 20);
}

TEST(HttpServer, EndsWithConnectionsOpen) {
  auto server = Serve(kPatient);
  const int port = server->port();
  std::vector<HttpConnection> open;
  for (int i = 0; i < 4; ++i) open.emplace_back(port);
  EXPECT_EQ(HttpGet(port, "/here").status, 200);
  server.reset();
  for (const HttpConnection& connection : open) EXPECT_EQ(connection.Hear(), "");
  EXPECT_FALSE(HttpConnection(port).open());
}

}  // namespace
}  // namespace grapevine
