#include "tests/node/store/etcd_server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "tests/process/free_port.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {

std::string EtcdServer::Program() {
  for (const char* path : {"/usr/bin/etcd", "/usr/local/bin/etcd"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

EtcdServer::EtcdServer(const std::string& folder, const std::optional<Tls>& tls)
    : port_(FreePort()) {
  const std::string clients = (tls ? "https://" : "http://") + address();
  const std::string peers = "http://127.0.0.1:" + std::to_string(FreePort());
  arguments_ = {"etcd",
                "--name=test",
                "--data-dir=" + folder,
                "--listen-client-urls=" + clients,
                "--advertise-client-urls=" + clients,
                "--listen-peer-urls=" + peers,
                "--initial-advertise-peer-urls=" + peers,
                "--initial-cluster=test=" + peers,
                "--logger=zap",
                "--log-level=error"};
  if (tls) {
    arguments_.insert(arguments_.end(), {"--trusted-ca-file=" + tls->ca, "--cert-file=" + tls->cert,
                                         "--key-file=" + tls->key, "--client-cert-auth"});
  }
  Restart();
}

void EtcdServer::Restart() {
  auto process = ChildProcess::Start({.executable = Program(), .arguments = arguments_});
  EXPECT_TRUE(process.ok()) << process.status();
  if (process.ok()) process_ = *std::move(process);
}

void EtcdServer::Freeze() {
  process_->Signal(SIGSTOP);
  const auto end = std::chrono::steady_clock::now() + Patient(std::chrono::minutes(1));
  while (!process_->Stopped() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(process_->Stopped());
}

void EtcdServer::Thaw() { process_->Signal(SIGCONT); }

}  // namespace grapevine::testing
