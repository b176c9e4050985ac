// 100 MB between two processes over the gRPC transport (checksums on, TLS off; with the norm of
// what arrives, as nodes have it taken, and without), as a fraction of raw TCP's throughput on
// loopback: one way and both ways at once. They are measured in turn; medians and their ratios are
// printed.
//
//   bazel run //bench:transport_bench [-- REPETITIONS]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/workers.h"
#include "kernels/passes/streamed_norm.h"
#include "kernels/vector/shared_vector.h"

namespace grapevine {
namespace {

// Two processes joined by a TCP connection on loopback, in calls of 1 MB: what
// a transport is measured against. Errors end the process.
class RawTcp {
 public:
  // Listens on a port that the system chooses.
  RawTcp();
  int port() const { return port_; }
  void Accept();
  void Connect(int port);

  void Send(std::span<const std::byte> bytes);
  void Receive(std::span<std::byte> bytes);

 private:
  int listener_;
  int port_;
  int connection_ = -1;
};

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

constexpr int64_t kElements = 25'000'000;
constexpr double kGigabytes = 0.1;

SharedSlice Filled(float value) {
  SharedVector vector = NewSharedVector(kElements);
  for (float& element : vector.span()) element = value;
  return {vector.data, 0, vector.size};
}

std::span<std::byte> Bytes(const SharedSlice& slice) {
  return {reinterpret_cast<std::byte*>(slice.begin()), static_cast<size_t>(slice.bytes())};
}

// One of the two processes.
class Peer {
 public:
  Peer(int self, Channel& channel) : self_(self), channel_(channel), node_(self, 2) { Meet(); }

  void Run(const std::string& command) {
    const bool both = command.ends_with("both ways");
    const bool sends = both || self_ == 0;
    const bool receives = both || self_ == 1;
    if (command.starts_with("tcp")) return RunTcp(sends, receives);
    using Wanted = StreamedNorm::Wanted;
    std::shared_ptr<StreamedNorm> norm;
    if (command.starts_with("grpc")) norm = NewNorm(Wanted::kFiniteness);
    if (command.starts_with("norm")) norm = NewNorm(Wanted::kNorm);
    RunGrpc(sends, receives, norm);
  }

 private:
  void Meet() {
    channel_.Write(node_.address() + " " + std::to_string(tcp_.port()));
    node_.Join(channel_.Read());
    const int port = std::stoi(channel_.Read());
    self_ == 0 ? tcp_.Accept() : tcp_.Connect(port);
  }

  void RunTcp(bool sends, bool receives) {
    std::thread sender;
    if (sends) sender = std::thread([this] { tcp_.Send(Bytes(out_)); });
    if (receives) tcp_.Receive(Bytes(in_));
    if (sends) sender.join();
  }

  std::shared_ptr<StreamedNorm> NewNorm(StreamedNorm::Wanted wanted) const {
    return std::make_shared<StreamedNorm>(in_.bytes(), wanted);
  }

  void RunGrpc(bool sends, bool receives, std::shared_ptr<StreamedNorm> norm) {
    const Tag tag{.index = ++round_};
    Incoming buffer(in_);
    buffer.norm = std::move(norm);
    if (receives) (void)node_.transport().Post(1 - self_, tag, buffer);
    if (sends) (void)node_.transport().Send(1 - self_, tag, out_);
    node_.Await(receives ? 1 : 0, sends ? 1 : 0);
  }

  const Rank self_;
  Channel& channel_;
  RawTcp tcp_;
  BenchNode node_;
  const SharedSlice out_ = Filled(1);
  const SharedSlice in_ = Filled(0);
  Round round_ = 0;
};

void Introduce(Workers& workers) {
  std::vector<std::string> grpc;
  std::vector<std::string> tcp;
  for (const std::string& line : workers.ReadAll()) {
    grpc.push_back(line.substr(0, line.find(' ')));
    tcp.push_back(line.substr(line.find(' ') + 1));
  }
  workers.WriteAll(grpc[0] + " " + grpc[1]);
  workers.WriteAll(tcp[0]);
}

void Work(int self, Channel& channel) {
  Peer peer(self, channel);
  Serve(channel, [&peer](const std::string& command) { peer.Run(command); });
}

void Print(const char* way, const Costs& costs, double gigabytes, const Costs* reference) {
  std::printf("%-19s %6.1f ms %6.2f GB/s each way %6.2f CPU s/GB", way, 1e3 * costs.seconds(),
              kGigabytes / costs.seconds(), costs.cpu_seconds() / gigabytes);
  if (reference != nullptr) {
    std::printf("  %.2f x raw TCP", reference->seconds() / costs.seconds());
  }
  std::printf("\n");
}

int Main(int repetitions) {
  Workers workers(2, Work);
  Introduce(workers);
  for (const std::string way : {"one way", "both ways"}) {
    const std::vector<std::string> kinds = {"tcp", "grpc", "norm", "unchecked"};
    std::vector<Costs> costs(kinds.size());
    for (int repetition = -2; repetition < repetitions; ++repetition) {
      for (size_t i = 0; i < kinds.size(); ++i) {
        const Workers::Cost cost = workers.Measure(kinds[i] + " " + way);
        if (repetition >= 0) costs[i].Add(cost);
      }
    }
    const double gigabytes = way == "one way" ? kGigabytes : 2 * kGigabytes;
    for (size_t i = 0; i < kinds.size(); ++i) {
      Print((kinds[i] + " " + way).c_str(), costs[i], gigabytes, i > 0 ? &costs[0] : nullptr);
    }
  }
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc > 1 ? std::atoi(argv[1]) : 21); }
