#include "node/probe/probe_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "node/probe/probe_wire.h"
#include "node/server/listening_sockets.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Time = std::chrono::steady_clock::time_point;

constexpr size_t kEchoBytes = 65536;
constexpr size_t kReadBytes = 262144;
constexpr size_t kBurst = 4 << 20;

// One caller, from its connection to its end.
class Visit {
 public:
  Visit(UniqueDescriptor socket, const ProbeDoorOptions* options, Time now)
      : socket_(std::move(socket)),
        options_(options),
        nonce_(DrawProbeNonce()),
        out_(nonce_),
        due_(now + ProbeDoor::kPatience) {}

  bool stranger() const { return state_ == State::kHello; }
  bool over(Time now) const { return !socket_.open() || now >= due_; }
  Time due() const { return state_ == State::kSink ? std::min(due_, sink_until_) : due_; }
  pollfd polled() const {
    const bool reads = state_ != State::kEcho || out_.empty();
    return {socket_.get(), static_cast<short>((reads ? POLLIN : 0) | (out_.empty() ? 0 : POLLOUT)),
            0};
  }

  void Go(Time now, std::string* buffer) {
    switch (state_) {
      case State::kHello:
        Greet(now);
        break;
      case State::kEcho:
        Echo(buffer);
        break;
      case State::kSink:
        Sink(now, buffer);
        break;
      case State::kFarewell:
        while (Read(buffer) > 0) {
        }
        break;
    }
    Write();
  }

 private:
  enum class State { kHello, kEcho, kSink, kFarewell };

  // Returns the number of bytes read; 0 if none are present, or no more will come.
  size_t Read(std::string* buffer) {
    if (!socket_.open()) return 0;
    const ssize_t got = recv(socket_.get(), buffer->data(), buffer->size(), 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) ended_ = true;
    if (got < 0 && errno != EAGAIN && errno != EINTR) socket_.Close();
    return 0;
  }

  void Write() {
    while (!out_.empty() && socket_.open()) {
      const ssize_t put = send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
      if (put < 0 && errno == EAGAIN) return;
      if (put < 0 && errno != EINTR) return socket_.Close();
      if (put > 0) out_.erase(0, static_cast<size_t>(put));
    }
    if (out_.empty() && ended_) socket_.Close();
  }

  void Greet(Time now) {
    char bytes[kProbeHelloBytes];
    const ssize_t got = recv(socket_.get(), bytes, kProbeHelloBytes - hello_.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return socket_.Close();
    hello_.append(bytes, static_cast<size_t>(got));
    if (hello_.size() < kProbeHelloBytes) return;
    const std::optional<ProbeHello> hello = DecodeHello(options_->token, nonce_, hello_);
    if (!hello) return socket_.Close();
    wanted_ = *hello;
    out_ += EncodeWelcome(options_->token, nonce_, options_->host);
    state_ = wanted_.kind == ProbeKind::kEcho ? State::kEcho : State::kSink;
    // A sink's time begins with its first bytes.
    due_ = now + wanted_.duration + 2 * ProbeDoor::kPatience;
    sink_until_ = due_;
  }

  void Echo(std::string* buffer) {
    if (!out_.empty()) return;
    const ssize_t got = recv(socket_.get(), buffer->data(), kEchoBytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return socket_.Close();
    total_ += static_cast<uint64_t>(got);
    if (total_ > wanted_.bytes) return socket_.Close();
    out_.assign(buffer->data(), static_cast<size_t>(got));
  }

  void Sink(Time now, std::string* buffer) {
    for (size_t burst = 0; burst < kBurst;) {
      const size_t got = Read(buffer);
      if (got == 0) break;
      now = std::chrono::steady_clock::now();
      burst += got;
      Count(now, got);
    }
    if (ended_ || now >= sink_until_ || total_ >= wanted_.bytes) Tell(now);
  }

  void Count(Time now, size_t bytes) {
    if (total_ == 0) {
      first_ = now;
      sink_until_ = now + wanted_.duration;
    }
    total_ += bytes;
    last_ = now;
    if (counted_from_) {
      counted_ += bytes;
    } else if (now >= first_ + std::chrono::duration_cast<nanoseconds>(wanted_.duration *
                                                                       ProbeDoor::kWarmUp)) {
      counted_from_ = now;
    }
  }

  // Sends the count. The caller may still send: it reads the count, and hangs up.
  void Tell(Time now) {
    SinkCount count{.bytes = total_, .time = last_ - first_};
    if (counted_ > 0) count = {.bytes = counted_, .time = last_ - *counted_from_};
    out_ += EncodeCount(count);
    state_ = State::kFarewell;
    due_ = std::min(due_, now + ProbeDoor::kPatience);
  }

  UniqueDescriptor socket_;
  const ProbeDoorOptions* const options_;
  const std::string nonce_;
  std::string hello_, out_;
  State state_ = State::kHello;
  Time due_;
  bool ended_ = false;  // the caller sends no more
  ProbeHello wanted_;
  uint64_t total_ = 0, counted_ = 0;
  Time sink_until_{}, first_{}, last_{};
  std::optional<Time> counted_from_;
};

class Visits {
 public:
  explicit Visits(const ProbeDoorOptions* options) : options_(options), buffer_(kReadBytes, '\0') {}

  void Accept(int listener, Time now) {
    while (true) {
      UniqueDescriptor socket(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.open()) return;
      if (visits_.size() >= ProbeDoor::kMostCallers) continue;
      visits_.emplace_back(std::move(socket), options_, now);
      visits_.back().Go(now, &buffer_);
    }
  }

  void AddTo(std::vector<pollfd>* polled) const {
    for (const Visit& visit : visits_) polled->push_back(visit.polled());
  }
  Time due() const {
    Time due = Time::max();
    for (const Visit& visit : visits_) due = std::min(due, visit.due());
    return due;
  }

  // `polled` points to the elements that AddTo has added.
  void Go(const pollfd* polled, Time now) {
    for (Visit& visit : visits_) {
      if ((polled++)->revents != 0 || now >= visit.due()) visit.Go(now, &buffer_);
    }
    visits_.remove_if([now](const Visit& visit) { return visit.over(now); });
    auto strangers = std::ranges::count_if(visits_, &Visit::stranger);
    for (auto visit = visits_.begin();
         strangers > static_cast<ptrdiff_t>(ProbeDoor::kMostStrangers);) {
      strangers -= visit->stranger() ? 1 : 0;
      visit = visit->stranger() ? visits_.erase(visit) : std::next(visit);
    }
  }

 private:
  const ProbeDoorOptions* const options_;
  std::list<Visit> visits_;  // the oldest first
  std::string buffer_;
};

int MillisecondsUntil(Time due) {
  const auto left = due - std::chrono::steady_clock::now();
  if (left <= left.zero()) return 0;
  const auto whole = std::chrono::ceil<milliseconds>(left);
  return static_cast<int>(std::min(whole, milliseconds(1000)).count());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProbeDoor>> ProbeDoor::Open(const ProbeDoorOptions& options) {
  if (!options.token.given()) return absl::InvalidArgumentError("a door without a token");
  std::unique_ptr<ProbeDoor> door(new ProbeDoor);
  for (const int port : options.ports) {
    absl::StatusOr<ListeningSockets> sockets = ListenOn(
        {.host = "0.0.0.0", .port = port}, kPatience, "end what has it, or give another port");
    if (!sockets.ok()) {
      door->ports_.push_back(sockets.status());
      continue;
    }
    door->ports_.push_back(sockets->port);
    std::ranges::move(sockets->descriptors, std::back_inserter(door->listeners_));
  }
  door->stop_ = UniqueDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!door->stop_.open()) return absl::ErrnoToStatus(errno, "no eventfd");
  const SignalsAreForOthers none;
  door->thread_ = std::thread([raw = door.get(), options] { raw->Serve(options); });
  return door;
}

ProbeDoor::~ProbeDoor() {
  if (!thread_.joinable()) return;
  (void)eventfd_write(stop_.get(), 1);
  thread_.join();
}

void ProbeDoor::Serve(const ProbeDoorOptions& options) {
  const Time end = std::chrono::steady_clock::now() + options.lifetime;
  Visits visits(&options);
  while (true) {
    std::vector<pollfd> polled = {{stop_.get(), POLLIN, 0}};
    for (const UniqueDescriptor& listener : listeners_) {
      polled.push_back({listener.get(), POLLIN, 0});
    }
    visits.AddTo(&polled);
    poll(polled.data(), polled.size(), MillisecondsUntil(std::min(end, visits.due())));
    const Time now = std::chrono::steady_clock::now();
    if (polled.front().revents != 0 || now >= end) return listeners_.clear();
    visits.Go(polled.data() + 1 + listeners_.size(), now);
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[1 + i].revents != 0) visits.Accept(listeners_[i].get(), now);
    }
  }
}

}  // namespace grapevine
