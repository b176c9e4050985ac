// A network between two parties on the loopback, which can be cut: what connects to the relay's
// port is passed on to another one.
#ifndef GRAPEVINE_TESTS_TESTING_TCP_RELAY_H_
#define GRAPEVINE_TESTS_TESTING_TCP_RELAY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "system/file_descriptor.h"
#include "system/mutex.h"

namespace grapevine::testing {

// Thread-safe. Failures of the system are CHECKed.
class TcpRelay {
 public:
  // To `target`, a port of this machine on which somebody listens by the time of the first call.
  explicit TcpRelay(int target);
  ~TcpRelay();

  int port() const { return port_; }

  // Breaks all connections, between any two bytes.
  void Cut();
  // From now on connections break as soon as they are made, or no longer do.
  void Refuse(bool refuse) { refuses_ = refuse; }
  // Each connection made from now on breaks once it has carried so many bytes, both ways together.
  void BreakAfter(int64_t bytes) { life_ = bytes; }

  // Connections made so far, those that were refused, and those that broke after their time.
  int connections() const { return connections_; }
  int refused() const { return refused_; }
  int broken() const { return broken_; }

 private:
  struct Connection {
    UniqueDescriptor caller, called;
    std::atomic<int64_t> left{0};  // bytes
  };

  void Accept();
  void Relay(UniqueDescriptor caller);
  void Pump(const std::shared_ptr<Connection>& connection, int from, int to);
  static void Break(const Connection& connection);

  const int target_;
  UniqueDescriptor listener_;
  int port_ = 0;
  std::atomic<bool> refuses_ = false;
  std::atomic<int64_t> life_;
  std::atomic<int> connections_ = 0;
  std::atomic<int> refused_ = 0;
  std::atomic<int> broken_ = 0;

  Mutex mutex_;
  std::vector<std::shared_ptr<Connection>> alive_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> pumps_ ABSL_GUARDED_BY(mutex_);
  std::thread accepting_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_TCP_RELAY_H_
