// netlab_relay: the network between the lab's hosts.
//
//   netlab_relay --prefix=NAME --ports=N [--latency-us=L] [--rate-bits=B] [--queue-bytes=Q]
//
// Makes the taps NAME0 ... NAME(N-1), says "ready", and is a switch between them
// until its standard input ends. A line on the input is answered with a line of
// counters since the line before, as JSON.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "system/unique_descriptor.h"
#include "tools/netlab/ethernet_switch.h"
#include "tools/netlab/tap.h"

namespace grapevine::netlab {
namespace {

constexpr int kMaxPorts = 64;

struct RelayOptions {
  std::string prefix;
  int64_t ports = 0;
  int64_t latency_us = 0;
  int64_t rate_bits = 0;
  int64_t queue_bytes = 1 << 20;
};

int64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

absl::StatusOr<RelayOptions> ParseOptions(int argc, char** argv) {
  RelayOptions options;
  const std::vector<std::pair<std::string_view, int64_t*>> numbers = {
      {"--ports=", &options.ports},
      {"--latency-us=", &options.latency_us},
      {"--rate-bits=", &options.rate_bits},
      {"--queue-bytes=", &options.queue_bytes}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    bool known = argument.starts_with("--prefix=");
    if (known) options.prefix = argument.substr(9);
    for (const auto& [name, value] : numbers) {
      if (!argument.starts_with(name)) continue;
      known = true;
      if (!absl::SimpleAtoi(argv[i] + name.size(), value) || *value < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(argv[i], ": wants a number that is not negative"));
      }
    }
    if (!known) return absl::InvalidArgumentError(absl::StrCat(argv[i], " is no flag"));
  }
  if (options.prefix.empty()) return absl::InvalidArgumentError("--prefix=NAME is missing");
  if (options.ports < 1 || options.ports > kMaxPorts) {
    return absl::InvalidArgumentError(absl::StrCat("--ports: wants 1 to ", kMaxPorts));
  }
  return options;
}

absl::StatusOr<std::vector<UniqueDescriptor>> OpenTaps(const RelayOptions& options) {
  std::vector<UniqueDescriptor> taps;
  for (int64_t port = 0; port < options.ports; ++port) {
    absl::StatusOr<UniqueDescriptor> tap = OpenTap(absl::StrCat(options.prefix, port));
    if (!tap.ok()) return tap.status();
    taps.push_back(*std::move(tap));
  }
  return taps;
}

// A frame that is due waits for no other process and no page. A machine that
// does not allow it shows in the lateness.
void AskForPunctuality() {
  prctl(PR_SET_TIMERSLACK, 1);
  mlockall(MCL_CURRENT | MCL_FUTURE);
  sched_param priority{};
  priority.sched_priority = 10;
  sched_setscheduler(0, SCHED_FIFO, &priority);
}

class Relay {
 public:
  Relay(std::vector<UniqueDescriptor> taps, const PortOptions& options)
      : switch_(std::move(taps), options),
        poll_(epoll_create1(EPOLL_CLOEXEC)),
        timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

  absl::Status Run();

 private:
  // What an event is about: a port, or
  static constexpr uint32_t kTimer = 1'000'000;
  static constexpr uint32_t kInput = 1'000'001;

  absl::Status Watch(int descriptor, uint32_t what);
  void Arm();
  // Whether the input goes on.
  bool ReadInput();
  void PrintCounters() const;

  EthernetSwitch switch_;
  UniqueDescriptor poll_;
  UniqueDescriptor timer_;
  int64_t armed_ = 0;
};

absl::Status Relay::Watch(int descriptor, uint32_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = what;
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot watch a descriptor");
}

absl::Status Relay::Run() {
  for (int port = 0; port < switch_.ports(); ++port) {
    absl::Status status = Watch(switch_.descriptor(port), static_cast<uint32_t>(port));
    if (!status.ok()) return status;
  }
  if (absl::Status status = Watch(timer_.get(), kTimer); !status.ok()) return status;
  if (absl::Status status = Watch(STDIN_FILENO, kInput); !status.ok()) return status;
  std::array<epoll_event, kMaxPorts + 2> events;
  while (true) {
    const int count = epoll_wait(poll_.get(), events.data(), events.size(), -1);
    if (count < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "epoll_wait failed");
    for (int i = 0; i < count; ++i) {
      const uint32_t what = events[i].data.u32;
      if (what == kTimer) {
        armed_ = 0;
        uint64_t expirations;
        (void)!read(timer_.get(), &expirations, sizeof(expirations));
      } else if (what == kInput) {
        if (!ReadInput()) return absl::OkStatus();
      } else {
        switch_.Receive(static_cast<int>(what), Now);
      }
    }
    switch_.Deliver(Now);
    Arm();
  }
}

void Relay::Arm() {
  const std::optional<int64_t> next = switch_.next_due();
  if (!next || *next == armed_) return;
  armed_ = *next;
  itimerspec when{};
  when.it_value.tv_sec = armed_ / 1'000'000'000;
  when.it_value.tv_nsec = armed_ % 1'000'000'000;
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

bool Relay::ReadInput() {
  std::array<char, 256> input;
  const ssize_t size = read(STDIN_FILENO, input.data(), input.size());
  if (size <= 0) return size < 0 && errno == EINTR;
  for (ssize_t i = 0; i < size; ++i) {
    if (input[i] != '\n') continue;
    PrintCounters();
    switch_.ResetCounters();
  }
  return true;
}

void Relay::PrintCounters() const {
  const SwitchCounters& counters = switch_.counters();
  const std::string line = absl::StrCat(
      "{\"frames\": ", counters.frames, ", \"bytes\": ", counters.bytes,
      ", \"queue_drops\": ", counters.queue_drops, ", \"memory_drops\": ", counters.memory_drops,
      ", \"refused_drops\": ", counters.refused_drops,
      ", \"late_us_p50\": ", counters.lateness.Quantile(0.5) / 1000,
      ", \"late_us_p99\": ", counters.lateness.Quantile(0.99) / 1000,
      ", \"late_us_max\": ", counters.lateness.Quantile(1) / 1000, "}");
  puts(line.c_str());
  fflush(stdout);
}

absl::Status RunRelay(int argc, char** argv) {
  const absl::StatusOr<RelayOptions> options = ParseOptions(argc, argv);
  if (!options.ok()) return options.status();
  absl::StatusOr<std::vector<UniqueDescriptor>> taps = OpenTaps(*options);
  if (!taps.ok()) return taps.status();
  Relay relay(*std::move(taps), {.latency_ns = options->latency_us * 1000,
                                 .bits_per_second = options->rate_bits,
                                 .queue_bytes = options->queue_bytes});
  AskForPunctuality();
  puts("ready");
  fflush(stdout);
  return relay.Run();
}

}  // namespace
}  // namespace grapevine::netlab

int main(int argc, char** argv) {
  const absl::Status status = grapevine::netlab::RunRelay(argc, argv);
  if (status.ok()) return 0;
  fprintf(stderr, "netlab_relay: %s\n", std::string(status.message()).c_str());
  return 1;
}
