// Two processes joined by a TCP connection on loopback, in calls of 1 MB: what
// a transport is measured against. Errors end the process.
#ifndef GRAPEVINE_BENCH_RAW_TCP_H_
#define GRAPEVINE_BENCH_RAW_TCP_H_

#include <cstddef>
#include <span>

namespace grapevine {

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

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_RAW_TCP_H_
