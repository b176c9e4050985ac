#include "bench/workers.h"

#include <grpcpp/server_builder.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "absl/strings/str_split.h"
#include "bench/processor_time.h"
#include "glog/logging.h"
#include "node/server/grpc_credentials.h"
#include "node/transport/grpc/grpc_transport_options.h"

namespace grapevine {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

void Channel::Write(const std::string& line) {
  const std::string text = line + "\n";
  if (write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    Die("write to a benchmark's process");
  }
}

std::string Channel::Read() {
  std::string line;
  char c;
  while (true) {
    if (read(descriptor_, &c, 1) != 1) Die("read from a benchmark's process");
    if (c == '\n') return line;
    line += c;
  }
}

Workers::Workers(int count, const std::function<void(int, Channel&)>& body) {
  for (int index = 0; index < count; ++index) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Die("socketpair");
    const pid_t process = fork();
    if (process < 0) Die("fork");
    if (process == 0) {
      close(ends[0]);
      Channel channel(ends[1]);
      body(index, channel);
      std::_Exit(0);
    }
    close(ends[1]);
    channels_.emplace_back(ends[0]);
    processes_.push_back(process);
  }
}

Workers::~Workers() {
  WriteAll("quit");
  for (const pid_t process : processes_) waitpid(process, nullptr, 0);
}

std::vector<std::string> Workers::ReadAll() {
  std::vector<std::string> lines;
  for (Channel& channel : channels_) lines.push_back(channel.Read());
  return lines;
}

void Workers::WriteAll(const std::string& line) {
  for (Channel& channel : channels_) channel.Write(line);
}

Workers::Cost Workers::Measure(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  WriteAll(command);
  Cost cost{.seconds = 0, .cpu_seconds = 0};
  for (const std::string& answer : ReadAll()) cost.cpu_seconds += std::stod(answer);
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return cost;
}

void Serve(Channel& channel, const std::function<void(const std::string&)>& run) {
  for (std::string command = channel.Read(); command != "quit"; command = channel.Read()) {
    const double before = ProcessorSeconds();
    run(command);
    channel.Write(std::to_string(ProcessorSeconds() - before));
  }
}

void Costs::Add(const Workers::Cost& cost) {
  seconds_.push_back(cost.seconds);
  cpu_seconds_.push_back(cost.cpu_seconds);
}

double Costs::seconds() const { return Median(seconds_); }
double Costs::cpu_seconds() const { return Median(cpu_seconds_); }

BenchNode::BenchNode(Rank rank, Rank world_size)
    : transport_(std::make_unique<GrpcTransport>(
          EdgeIdentity{.rank = rank, .world_size = world_size}, GrpcTransportOptions{}, this)) {
  const absl::StatusOr<GrpcCredentials> credentials = GrpcCredentials::Load({});
  CHECK(credentials.ok()) << credentials.status();
  const GrpcServer::Register services[] = {[this](grpc::ServerBuilder& builder) {
    ApplyServerArguments(builder, /*loopback=*/true);
    transport_->AddTo(builder);
  }};
  absl::StatusOr<std::unique_ptr<GrpcServer>> server =
      GrpcServer::Start({}, *credentials, services);
  CHECK(server.ok()) << server.status();
  server_ = *std::move(server);
  address_ = FormatHostAddress(server_->address());
}

BenchNode::~BenchNode() {
  transport_->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now());
  transport_.reset();
  server_.reset();
}

void BenchNode::Join(const std::string& addresses) {
  transport_->Join("bench", absl::StrSplit(addresses, ' '));
}

void BenchNode::Await(int received, int sent, int left) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  MutexLock lock(mutex_);
  while (received_ < received || sent_ < sent || left_ < left) {
    CHECK(changed_.WaitUntil(mutex_, deadline)) << "nothing came";
  }
  received_ -= received;
  sent_ -= sent;
  left_ -= left;
}

void BenchNode::OnReceived(const Received&) {
  MutexLock lock(mutex_);
  ++received_;
  changed_.NotifyAll();
}

void BenchNode::OnLeft(Rank, Tag) {
  MutexLock lock(mutex_);
  ++left_;
  changed_.NotifyAll();
}

void BenchNode::OnSent(Rank, Tag) {
  MutexLock lock(mutex_);
  ++sent_;
  changed_.NotifyAll();
}

void BenchNode::OnPeerFailed(Rank, const absl::Status& why) { LOG(FATAL) << why; }

}  // namespace grapevine
