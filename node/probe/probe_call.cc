#include "node/probe/probe_call.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "node/probe/probe_wire.h"
#include "system/deadline.h"
#include "system/file_descriptor.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using Time = steady_clock::time_point;

constexpr int kEchoes = 21;
constexpr size_t kEchoBytes = 64;
constexpr size_t kBlockBytes = 131072;
// The most bytes that the kernel holds unsent, so that a transfer over a slow link does not end
// long after its time.
constexpr int kUnsentBytes = 131072;
constexpr int kLargestSegment = 65536;

probe::Trouble Trouble(probe::Obstacle obstacle, std::string text) {
  probe::Trouble trouble;
  trouble.set_obstacle(obstacle);
  trouble.set_text(std::move(text));
  return trouble;
}

std::string Within(milliseconds patience) {
  return absl::StrCat("no answer within ", HumanSeconds(patience));
}

// A connection to a door.
class Call {
 public:
  Call(const probe::Target& target, milliseconds patience, int stop)
      : target_(target), patience_(patience), stop_(stop) {}

  // Connects to the door and asks for `hello`.
  probe::Trouble Begin(const RunToken& token, const ProbeHello& hello) {
    probe::Trouble trouble = Connect();
    return trouble.obstacle() == probe::NONE ? Greet(token, hello) : trouble;
  }

  const std::string& address() const { return address_; }
  int socket() const { return socket_.get(); }
  Time Deadline() const { return steady_clock::now() + patience_; }

  // Waits until the socket is ready for `events`; returns whether it is by `deadline`.
  bool Await(short events, Time deadline) const {
    std::vector<pollfd> polled = {{socket_.get(), events, 0}, {stop_, POLLIN, 0}};
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
      const int ready = poll(polled.data(), polled.size(),
                             static_cast<int>(std::max(left, milliseconds(0)).count()));
      if (ready < 0 && errno == EINTR) continue;
      return polled[1].revents == 0 && polled[0].revents != 0;
    }
  }

  bool Send(std::string_view bytes, Time deadline) const {
    while (!bytes.empty()) {
      const ssize_t put = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
      if (put >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN || !Await(POLLOUT, deadline)) return false;
    }
    return true;
  }

  std::optional<std::string> Receive(size_t bytes, Time deadline) const {
    std::string received(bytes, '\0');
    for (size_t have = 0; have < bytes;) {
      const ssize_t got = recv(socket_.get(), received.data() + have, bytes - have, 0);
      if (got == 0) return std::nullopt;
      if (got > 0) have += static_cast<size_t>(got);
      if (got > 0 || errno == EINTR) continue;
      if (errno != EAGAIN || !Await(POLLIN, deadline)) return std::nullopt;
    }
    return received;
  }

  tcp_info Info() const {
    tcp_info info{};
    socklen_t length = sizeof(info);
    (void)getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &length);
    return info;
  }

  void Set(int level, int option, int value) const {
    (void)setsockopt(socket_.get(), level, option, &value, sizeof(value));
  }

 private:
  probe::Trouble Connect() {
    BoundedCall bounded;
    auto found = std::make_shared<absl::StatusOr<std::vector<std::string>>>(
        absl::UnavailableError("no answer from its name servers"));
    const bool in_time =
        bounded.Run([found, name = target_.name()] { *found = AddressesOfName(name); }, Deadline());
    if (!in_time) return Trouble(probe::UNKNOWN_NAME, "no name server answers");
    if (!found->ok()) return Trouble(probe::UNKNOWN_NAME, std::string(found->status().message()));
    probe::Trouble trouble;
    for (const std::string& address : **found) {
      trouble = ConnectTo(address);
      if (trouble.obstacle() == probe::NONE) return trouble;
    }
    return trouble;
  }

  probe::Trouble ConnectTo(const std::string& address) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* raw = nullptr;
    const std::string port = absl::StrCat(target_.port());
    if (const int error = getaddrinfo(address.c_str(), port.c_str(), &wanted, &raw); error != 0) {
      return Trouble(probe::UNKNOWN_NAME, gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> at(raw, freeaddrinfo);
    address_ = address;
    socket_ =
        UniqueDescriptor(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_.open()) return Trouble(probe::NOBODY, std::strerror(errno));
    Set(IPPROTO_TCP, TCP_NODELAY, 1);
    if (connect(socket_.get(), at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) {
      return Trouble(probe::NOBODY, std::strerror(errno));
    }
    if (!Await(POLLOUT, Deadline())) return Trouble(probe::NOBODY, Within(patience_));
    int error = 0;
    socklen_t length = sizeof(error);
    (void)getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    return error == 0 ? probe::Trouble() : Trouble(probe::NOBODY, std::strerror(error));
  }

  probe::Trouble Greet(const RunToken& token, const ProbeHello& hello) {
    const std::optional<std::string> nonce = Receive(kProbeNonceBytes, Deadline());
    std::optional<std::string> welcome;
    if (nonce && Send(EncodeHello(token, *nonce, hello), Deadline())) {
      welcome = Receive(kProbeWelcomeBytes, Deadline());
    }
    const std::optional<uint32_t> host =
        welcome ? DecodeWelcome(token, *nonce, *welcome) : std::nullopt;
    if (!host) return Trouble(probe::STRANGER, "another program answers");
    if (*host == target_.host()) return {};
    probe::Trouble trouble = Trouble(probe::OTHER_HOST, "another host answers");
    trouble.set_host(*host);
    return trouble;
  }

  const probe::Target& target_;
  const milliseconds patience_;
  const int stop_;
  std::string address_;
  UniqueDescriptor socket_;
};

// Returns the interface that has the socket's own address, and its MTU, 0 if unknown.
std::pair<std::string, int> InterfaceOf(int descriptor) {
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &length) != 0) return {};
  const auto same = [&own](const sockaddr* address) {
    if (address == nullptr || address->sa_family != own.ss_family) return false;
    if (own.ss_family == AF_INET) {
      return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr ==
             reinterpret_cast<const sockaddr_in*>(&own)->sin_addr.s_addr;
    }
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr,
                       &reinterpret_cast<const sockaddr_in6*>(&own)->sin6_addr,
                       sizeof(in6_addr)) == 0;
  };
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(raw, freeifaddrs);
  for (const ifaddrs* one = raw; one != nullptr; one = one->ifa_next) {
    if (!same(one->ifa_addr)) continue;
    ifreq request{};
    std::strncpy(request.ifr_name, one->ifa_name, IFNAMSIZ - 1);
    const bool known = ioctl(descriptor, SIOCGIFMTU, &request) == 0;
    return {one->ifa_name, known ? request.ifr_mtu : 0};
  }
  return {};
}

bool Comes(const Call& call, const std::string& bytes) {
  const Time deadline = call.Deadline();
  return call.Send(bytes, deadline) && call.Receive(bytes.size(), deadline).has_value();
}

std::optional<nanoseconds> MedianEcho(const Call& call) {
  std::vector<nanoseconds> times;
  for (int echo = 0; echo < kEchoes; ++echo) {
    const Time begin = steady_clock::now();
    if (!Comes(call, std::string(kEchoBytes, 'e'))) return std::nullopt;
    times.push_back(steady_clock::now() - begin);
  }
  std::ranges::nth_element(times, times.begin() + kEchoes / 2);
  return times[kEchoes / 2];
}

milliseconds PatienceOf(int64_t asked) {
  return std::clamp(milliseconds(asked), milliseconds(1), kLongestProbe);
}

// Sends for `duration`, but at most `bytes`. Returns whether nothing has failed.
bool Pour(const Call& call, milliseconds duration, uint64_t bytes) {
  const std::string block(kBlockBytes, 's');
  const Time end = steady_clock::now() + duration;
  for (uint64_t sent = 0; sent < bytes && steady_clock::now() < end;) {
    // Bytes from the door mean that it has enough.
    if (!call.Await(POLLIN | POLLOUT, end)) break;
    pollfd heard{call.socket(), POLLIN, 0};
    if (poll(&heard, 1, 0) > 0) break;
    const size_t most = std::min<uint64_t>(block.size(), bytes - sent);
    const ssize_t put = send(call.socket(), block.data(), most, MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (put > 0) sent += static_cast<uint64_t>(put);
  }
  return shutdown(call.socket(), SHUT_WR) == 0;
}

void Measure(const probe::Stream& stream, const Call& call, milliseconds duration,
             probe::Streamed* streamed) {
  call.Set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, kUnsentBytes);
  const bool poured = Pour(call, duration, stream.bytes());
  // By this deadline the sink's time is over, or the bytes under way have arrived.
  const std::optional<std::string> count =
      call.Receive(kSinkCountBytes, call.Deadline() + duration);
  streamed->set_retransmitted(call.Info().tcpi_total_retrans);
  if (!poured || !count) {
    *streamed->mutable_trouble() =
        Trouble(probe::BROKEN, "the connection broke, or nothing passed");
    return;
  }
  const SinkCount counted = DecodeCount(*count);
  streamed->set_bytes(counted.bytes);
  streamed->set_nanoseconds(counted.time.count());
}

}  // namespace

probe::Reached ReachDoor(const probe::Reach& reach, const RunToken& token, int stop) {
  const milliseconds patience = PatienceOf(reach.patience_ms());
  Call call(reach.target(), patience, stop);
  probe::Reached reached;
  *reached.mutable_trouble() = call.Begin(
      token, {.kind = ProbeKind::kEcho, .duration = patience, .bytes = 2 * kLargestSegment});
  reached.set_address(call.address());
  if (reached.trouble().obstacle() != probe::NONE) return reached;
  const auto [interface, mtu] = InterfaceOf(call.socket());
  reached.set_interface(interface);
  reached.set_interface_mtu(mtu);
  const int segment = std::clamp(static_cast<int>(call.Info().tcpi_snd_mss), 1, kLargestSegment);
  reached.set_segment(segment);
  // One packet each way, as large as the connection may send: TCP does not let it be fragmented.
  reached.set_passes(Comes(call, std::string(static_cast<size_t>(segment), 'f')));
  return reached;
}

probe::Streamed StreamToDoor(const probe::Stream& stream, const RunToken& token, int stop) {
  const milliseconds patience = PatienceOf(stream.patience_ms());
  const milliseconds duration = PatienceOf(stream.duration_ms());
  probe::Streamed streamed;
  if (stream.echoes()) {
    Call echo(stream.target(), patience, stop);
    *streamed.mutable_trouble() = echo.Begin(
        token,
        {.kind = ProbeKind::kEcho, .duration = kLongestProbe, .bytes = kEchoes * kEchoBytes});
    if (streamed.trouble().obstacle() != probe::NONE) return streamed;
    const std::optional<nanoseconds> median = MedianEcho(echo);
    if (!median) {
      *streamed.mutable_trouble() = Trouble(probe::BROKEN, Within(patience));
      return streamed;
    }
    streamed.set_round_trip_ns(median->count());
  }
  if (stream.duration_ms() <= 0) return streamed;
  Call sink(stream.target(), patience, stop);
  *streamed.mutable_trouble() =
      sink.Begin(token, {.kind = ProbeKind::kSink, .duration = duration, .bytes = stream.bytes()});
  if (streamed.trouble().obstacle() == probe::NONE) Measure(stream, sink, duration, &streamed);
  return streamed;
}

}  // namespace grapevine
