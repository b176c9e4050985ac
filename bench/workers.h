// The workers of a transport benchmark: forked processes that it measures, each connected to it by
// a line-based channel, and the gRPC node that each runs.
//
// Fork before anything starts threads: the benchmark's own process only sends commands and keeps
// the time.
#ifndef GRAPEVINE_BENCH_WORKERS_H_
#define GRAPEVINE_BENCH_WORKERS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/server/grpc_server.h"
#include "node/transport/grpc/grpc_transport.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

// One end of a socket pair. The death of its peer ends this process.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  void Write(const std::string& line);
  std::string Read();

 private:
  int descriptor_;
};

// Answers commands with the processor time that `run` took, until "quit".
void Serve(Channel& channel, const std::function<void(const std::string& command)>& run);

class Workers {
 public:
  // Runs body(index, channel) in each of `count` processes.
  Workers(int count, const std::function<void(int index, Channel& channel)>& body);
  // Sends "quit" and waits until they have ended.
  ~Workers();

  // What each worker writes next.
  std::vector<std::string> ReadAll();
  void WriteAll(const std::string& line);
  struct Cost {
    double seconds;      // from a command to the last worker's answer
    double cpu_seconds;  // of all workers together
  };
  Cost Measure(const std::string& command);

 private:
  std::vector<Channel> channels_;
  std::vector<pid_t> processes_;
};

// Measured costs, and their medians.
class Costs {
 public:
  void Add(const Workers::Cost& cost);
  double seconds() const;
  double cpu_seconds() const;

 private:
  std::vector<double> seconds_;
  std::vector<double> cpu_seconds_;
};

// One node: a gRPC transport with a node's whole server, and a sink that counts.
class BenchNode : public TransportSink {
 public:
  BenchNode(Rank rank, Rank world_size);
  ~BenchNode() override;

  const std::string& address() const { return address_; }
  Transport& transport() { return *transport_; }
  // `addresses`: of all ranks, separated by spaces.
  void Join(const std::string& addresses);

  // Waits until this many more messages are received and sent, and have left; ends the process if
  // a peer fails or nothing comes for a minute.
  void Await(int received, int sent, int left = 0);

 private:
  void OnReceived(const Received& message) override;
  void OnOffered(const Offered&) override {}
  void OnLost(Rank, Tag) override {}
  void OnLeft(Rank to, Tag tag) override;
  void OnSent(Rank to, Tag tag) override;
  void OnDeclined(Rank, Tag) override {}
  void OnPeerFailed(Rank peer, const absl::Status& why) override;

  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<GrpcServer> server_;
  std::string address_;
  Mutex mutex_;
  Condition changed_;
  int received_ ABSL_GUARDED_BY(mutex_) = 0;
  int sent_ ABSL_GUARDED_BY(mutex_) = 0;
  int left_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_WORKERS_H_
