// 100 MB between two processes over the gRPC transport (checksums on, TLS off),
// as a fraction of raw TCP's throughput on loopback: one way and both ways at
// once. The two are measured in turn; medians and their ratios are printed.
//
//   bazel run //bench:transport_bench [-- REPETITIONS]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "bench/grpc_node.h"
#include "bench/raw_tcp.h"
#include "bench/workers.h"
#include "kernels/vector/aligned_buffer.h"

namespace grapevine {
namespace {

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
    command.starts_with("tcp") ? RunTcp(sends, receives) : RunGrpc(sends, receives);
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

  void RunGrpc(bool sends, bool receives) {
    const Tag tag{.index = ++round_};
    if (receives) (void)node_.transport().Post(1 - self_, tag, in_);
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
  std::printf("%-15s %6.1f ms %6.2f GB/s each way %6.2f CPU s/GB", way, 1e3 * costs.seconds(),
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
    Costs tcp;
    Costs grpc;
    for (int repetition = -2; repetition < repetitions; ++repetition) {
      const Workers::Cost raw = workers.Measure("tcp " + way);
      const Workers::Cost ours = workers.Measure("grpc " + way);
      if (repetition < 0) continue;
      tcp.Add(raw);
      grpc.Add(ours);
    }
    const double gigabytes = way == "one way" ? kGigabytes : 2 * kGigabytes;
    Print(("tcp " + way).c_str(), tcp, gigabytes, nullptr);
    Print(("grpc " + way).c_str(), grpc, gigabytes, &tcp);
  }
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc > 1 ? std::atoi(argv[1]) : 21); }
