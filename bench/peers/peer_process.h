// A peer program that answers line by line, for benchmarks that alternate with it.
//
// Thread-compatible.
#ifndef GRAPEVINE_BENCH_PEERS_PEER_PROCESS_H_
#define GRAPEVINE_BENCH_PEERS_PEER_PROCESS_H_

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace grapevine {

class PeerProcess {
 public:
  explicit PeerProcess(const std::vector<std::string>& command);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // Sends one line and reads the number that answers it; absent once the program has ended.
  std::optional<double> Ask(const std::string& line);

 private:
  int pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_PEERS_PEER_PROCESS_H_
