// netlab_relay: the network between the lab's hosts.
//
//   netlab_relay --prefix=NAME --ports=N [--latency-us=L] [--rate-bits=B] [--queue-bytes=Q]
//
// Makes the taps NAME0 ... NAME(N-1), says "ready", and is a switch between them
// until its standard input ends. A line on the input is answered with a line of
// counters since the line before, as JSON.
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "system/file_descriptor.h"
#include "tools/netlab/ethernet_switch.h"

namespace grapevine::netlab {
namespace {

constexpr char kTunDevice[] = "/dev/net/tun";

absl::Status TapError(const std::string& what, int error) {
  const char* const remedy = error == EPERM || error == EACCES ? " (the lab needs root)"
                             : error == ENOENT || error == ENODEV
                                 ? " (the kernel lacks the tun module; try `modprobe tun`)"
                                 : "";
  return absl::ErrnoToStatus(error, absl::StrCat(what, remedy));
}

// Creates a tap called `name`, a network interface whose other end is a file descriptor, in the
// network namespace of this process; it may be moved elsewhere, and disappears when the
// descriptor is closed. Reads and writes carry one Ethernet frame each and do not block. Errors
// name the device and what is missing (PermissionDenied: root; NotFound: /dev/net/tun).
absl::StatusOr<UniqueDescriptor> OpenTap(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", name, "\" is not a name for a device: 1 to ", IFNAMSIZ - 1, " characters"));
  }
  UniqueDescriptor tap(open(kTunDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tap.open()) return TapError(absl::StrCat("cannot open ", kTunDevice), errno);
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) {
    return TapError(absl::StrCat("cannot make the tap ", name), errno);
  }
  return tap;
}

constexpr int kMaxPorts = 64;
// How late a frame may be on each way through the relay.
constexpr int64_t kTickNs = 50'000;
constexpr int64_t kTicksBetweenInputs = 100;

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
    if (!known) return absl::InvalidArgumentError(absl::StrCat(argv[i], " is not a flag"));
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
    ASSIGN_OR_RETURN(UniqueDescriptor tap, OpenTap(absl::StrCat(options.prefix, port)));
    taps.push_back(std::move(tap));
  }
  return taps;
}

void SleepUntil(int64_t time) {
  const timespec when{.tv_sec = time / 1'000'000'000, .tv_nsec = time % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

bool InputReady() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, 0) > 0;
}

// Frames that are due wait for no other process and no page fault. A machine that does not allow
// this shows it in the lateness.
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
      : switch_(std::move(taps), options) {}

  absl::Status Run();

 private:
  // Sleeps until a tap or the input has something.
  absl::Status AwaitWork();
  // Whether the input continues.
  bool ReadInput();
  void PrintCounters() const;

  EthernetSwitch switch_;
};

absl::Status Relay::AwaitWork() {
  std::vector<pollfd> descriptors = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  for (int port = 0; port < switch_.ports(); ++port) {
    descriptors.push_back({.fd = switch_.descriptor(port), .events = POLLIN, .revents = 0});
  }
  if (poll(descriptors.data(), descriptors.size(), -1) >= 0 || errno == EINTR) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "poll failed");
}

// While frames are held, all taps are looked at once a tick: waking up for each
// frame would cost several times the frame itself.
absl::Status Relay::Run() {
  int64_t tick = Now();
  for (int64_t count = 0;; ++count) {
    if (!switch_.busy()) {
      RETURN_IF_ERROR(AwaitWork());
      tick = Now();
    }
    const bool input_due = !switch_.busy() || count % kTicksBetweenInputs == 0;
    if (input_due && InputReady() && !ReadInput()) return absl::OkStatus();
    const int64_t now = Now();
    for (int port = 0; port < switch_.ports(); ++port) switch_.Receive(port, now);
    switch_.Deliver(now);
    tick = std::max(tick + kTickNs, now);
    SleepUntil(tick);
  }
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
  ASSIGN_OR_RETURN(const RelayOptions options, ParseOptions(argc, argv));
  ASSIGN_OR_RETURN(std::vector<UniqueDescriptor> taps, OpenTaps(options));
  Relay relay(std::move(taps), {.latency_ns = options.latency_us * 1000,
                                .bits_per_second = options.rate_bits,
                                .queue_bytes = options.queue_bytes});
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
