// An etcd of a test's own, if it is installed (Debian's etcd-server).
#ifndef GRAPEVINE_TESTS_NODE_STORE_ETCD_SERVER_H_
#define GRAPEVINE_TESTS_NODE_STORE_ETCD_SERVER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "system/child_process.h"

namespace grapevine::testing {

// Thread-compatible.
class EtcdServer {
 public:
  // The program; empty if there is none.
  static std::string Program();
  static constexpr char kMissing[] = "etcd is not installed (Debian's etcd-server)";

  // PEM files. Its clients must show a certificate of the same authority.
  struct Tls {
    std::string ca, cert, key;
  };
  // Keeps its data in `folder`. Serves soon: its callers wait.
  explicit EtcdServer(const std::string& folder, const std::optional<Tls>& tls = std::nullopt);

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // It hangs from when this returns until it thaws.
  void Freeze();
  void Thaw();
  void Kill() { process_.reset(); }
  // With the data and at the port of the one that was killed.
  void Restart();

 private:
  std::vector<std::string> arguments_;
  int port_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_STORE_ETCD_SERVER_H_
