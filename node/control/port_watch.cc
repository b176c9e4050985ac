#include "node/control/port_watch.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "node/identity/host_address.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Waits end by a notification; the deadline only bounds a lost one.
constexpr milliseconds kMaxWait{1000};
constexpr milliseconds kMinProbePause{10};
constexpr milliseconds kMaxProbePause{500};
constexpr milliseconds kPatience{500};

using SocketAddress = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Returns null for a name, which it does not look up.
SocketAddress Numeric(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  return SocketAddress(error == 0 ? found : nullptr, freeaddrinfo);
}

// The known addresses of names.
class Lookups {
 public:
  void Add(const std::string& name) {
    MutexLock lock(mutex_);
    found_.try_emplace(name);
  }
  bool empty() {
    MutexLock lock(mutex_);
    return found_.empty();
  }
  // Resolves one name after the other, for as long as it may go on.
  void Resolve(const PortProbe::Resolver& resolver, const std::function<bool()>& go_on) {
    std::vector<std::string> names;
    {
      MutexLock lock(mutex_);
      for (const auto& [name, addresses] : found_) names.push_back(name);
    }
    for (const std::string& name : names) {
      if (!go_on()) return;
      absl::StatusOr<std::vector<std::string>> addresses = resolver(name);
      if (!addresses.ok()) continue;
      MutexLock lock(mutex_);
      found_[name] = *std::move(addresses);
    }
  }
  std::vector<std::string> Of(const std::string& name) {
    MutexLock lock(mutex_);
    return found_[name];
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::vector<std::string>> found_ ABSL_GUARDED_BY(mutex_);
};

// A connection that is being made.
class Attempt {
 public:
  explicit Attempt(const addrinfo& to)
      : socket_(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const bool connected = socket_.open() && connect(socket_.get(), to.ai_addr, to.ai_addrlen) == 0;
    const int error = connected ? 0 : errno;
    if (error != EINPROGRESS) Settle(error);
  }

  bool under_way() const { return socket_.open(); }
  bool refused() const { return refused_; }
  // Returns whether this host has no way to the address, in which case the attempt proves nothing.
  bool unreachable() const { return unreachable_; }
  pollfd polled() const { return {socket_.get(), POLLOUT, 0}; }
  void OnReady() {
    int error = 0;
    socklen_t length = sizeof(error);
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
    Settle(error);
  }

 private:
  void Settle(int error) {
    refused_ = error == ECONNREFUSED;
    unreachable_ = error == ENETUNREACH || error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
    socket_.Close();
  }

  UniqueDescriptor socket_;
  bool refused_ = false;
  bool unreachable_ = false;
};

// The addresses of one name, of which all that can be reached must refuse.
struct Target {
  Target(const std::vector<std::string>& hosts, int port) {
    for (const std::string& host : hosts) {
      if (const SocketAddress at = Numeric(host, port)) attempts.emplace_back(*at);
    }
  }
  bool refuses() const {
    return std::ranges::any_of(attempts, &Attempt::refused) &&
           std::ranges::all_of(attempts, [](const Attempt& attempt) {
             return attempt.refused() || attempt.unreachable();
           });
  }
  std::vector<Attempt> attempts;
};

std::vector<Attempt*> UnderWay(std::vector<Target>& targets) {
  std::vector<Attempt*> attempts;
  for (Target& target : targets) {
    for (Attempt& attempt : target.attempts) {
      if (attempt.under_way()) attempts.push_back(&attempt);
    }
  }
  return attempts;
}

// Waits for the attempts under way.
void Await(std::vector<Target>& targets, milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (true) {
    const std::vector<Attempt*> attempts = UnderWay(targets);
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (attempts.empty() || left.count() <= 0) break;
    std::vector<pollfd> polled;
    for (const Attempt* attempt : attempts) polled.push_back(attempt->polled());
    if (poll(polled.data(), polled.size(), static_cast<int>(left.count())) < 0) continue;
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) attempts[i]->OnReady();
    }
  }
}

}  // namespace

std::vector<bool> PortProbe::Refuse(const std::vector<std::string>& texts, milliseconds patience,
                                    const std::atomic<bool>& stopped) {
  const auto lookups = std::make_shared<Lookups>();  // kept alive by a call that does not return
  std::vector<HostAddress> addresses;                // without a host: not to be tried
  for (const std::string& text : texts) {
    absl::StatusOr<HostAddress> address = ParseHostAddress(text);
    addresses.push_back(address.ok() && !stopped ? *std::move(address) : HostAddress());
    const auto& [host, port] = addresses.back();
    if (!host.empty() && Numeric(host, port) == nullptr) lookups->Add(host);
  }
  if (!lookups->empty()) {
    const auto deadline = steady_clock::now() + patience;
    (void)names_.Run(
        [lookups, resolver = resolver_, deadline] {
          lookups->Resolve(resolver, [deadline] { return steady_clock::now() < deadline; });
        },
        deadline);
  }
  std::vector<Target> targets;
  for (const auto& [host, port] : addresses) {
    const bool numeric = !host.empty() && Numeric(host, port) != nullptr;
    targets.emplace_back(numeric ? std::vector{host} : lookups->Of(host), port);
  }
  Await(targets, patience);
  std::vector<bool> refuse;
  for (const Target& target : targets) refuse.push_back(target.refuses());
  return refuse;
}

PortWatch::PortWatch(std::function<void(Rank)> on_closed)
    : on_closed_(std::move(on_closed)), thread_([this] { Run(); }) {}

PortWatch::~PortWatch() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void PortWatch::Watch(std::map<Rank, std::string> addresses) {
  MutexLock lock(mutex_);
  if (addresses == watched_) return;
  watched_ = std::move(addresses);
  pause_ = {};
  changed_.NotifyAll();
}

void PortWatch::Run() {
  MutexLock lock(mutex_);
  while (!stopped_) {
    if (watched_.empty()) {
      changed_.WaitUntil(mutex_, steady_clock::now() + kMaxWait);
      continue;
    }
    const std::map<Rank, std::string> watched = watched_;
    std::vector<std::string> addresses;
    for (const auto& [rank, address] : watched) addresses.push_back(address);
    mutex_.unlock();
    const std::vector<bool> refuse = probe_.Refuse(addresses, kPatience, stopped_);
    mutex_.lock();
    size_t next = 0;
    for (const auto& [rank, address] : watched) {
      if (!refuse[next++]) continue;
      const auto found = watched_.find(rank);
      if (found == watched_.end() || found->second != address) continue;
      mutex_.unlock();
      on_closed_(rank);
      mutex_.lock();
    }
    if (watched_ != watched) continue;  // another address is to be tried at once
    pause_ = std::clamp(2 * pause_, kMinProbePause, kMaxProbePause);
    const auto until = steady_clock::now() + pause_;
    while (!stopped_ && watched_ == watched && steady_clock::now() < until) {
      changed_.WaitUntil(mutex_, until);
    }
  }
}

}  // namespace grapevine
