#include "tests/node/whole_node/simulated_network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace grapevine::testing {
namespace {

// Between processes of one host, and from a socket to its reader.
constexpr std::chrono::nanoseconds kLocal{20000};

}  // namespace

Connection::Connection(SimulatedNetwork* network, Process* caller, Process* called,
                       std::string service, size_t window)
    : network_(network),
      service_(std::move(service)),
      window_(window),
      sides_{{.process = caller}, {.process = called}} {}

void Connection::Read(End end, Reader reader) {
  side(end).reader = std::move(reader);
  Arrive(Other(end));
}

void Connection::Write(End end, std::string header, SharedBytes data,
                       std::function<void()> written) {
  Side& writer = side(end);
  if (broken_ || writer.finished) {
    if (written) writer.process->After(kLocal, std::move(written));
    return;
  }
  writer.waiting.push_back({std::move(header), std::move(data), std::move(written)});
  TakeIn(end);
}

void Connection::Finish(End end, absl::Status status) {
  Side& writer = side(end);
  if (broken_ || std::exchange(writer.finished, true)) return;
  writer.waiting.push_back({.last = true, .status = std::move(status)});
  TakeIn(end);
}

void Connection::TakeIn(End from) {
  Side& writer = side(from);
  while (!writer.waiting.empty() && writer.taken.size() < window_) {
    Message message = std::move(writer.waiting.front());
    writer.waiting.pop_front();
    if (message.data.size > 0) {
      message.bytes.append(reinterpret_cast<const char*>(message.data.begin),
                           static_cast<size_t>(message.data.size));
      message.data = {};
    }
    if (message.written) writer.process->After(kLocal, std::exchange(message.written, {}));
    message.arrives =
        std::max(writer.last_arrival,
                 network_->time_->now() + network_->Latency(rank(from), rank(Other(from))));
    writer.last_arrival = message.arrives;
    writer.taken.push_back(std::move(message));
    network_->time_->At(writer.last_arrival,
                        [self = shared_from_this(), from] { self->Arrive(from); });
  }
}

void Connection::Arrive(End from) {
  Side& writer = side(from);
  Process* reader = side(Other(from)).process;
  if (broken_ || writer.taken.empty()) return;
  const SteadyTime now = network_->time_->now();
  const SteadyTime healed = network_->PartitionedUntil(rank(from), rank(Other(from)));
  if (healed > now) {
    if (healed == SteadyTime::max()) return;
    return network_->time_->At(healed + kLocal,
                               [self = shared_from_this(), from] { self->Arrive(from); });
  }
  reader->Do([self = shared_from_this(), from] { self->Deliver(from); });
}

void Connection::Deliver(End from) {
  Side& writer = side(from);
  Side& reader = side(Other(from));
  while (!broken_ && !writer.taken.empty() && !reader.closed && reader.reader.on_message &&
         writer.taken.front().arrives <= network_->time_->now()) {
    Message message = std::move(writer.taken.front());
    writer.taken.pop_front();
    TakeIn(from);
    if (message.broken) return Break(message.status);
    if (message.last) return Close(Other(from), message.status);
    reader.reader.on_message(std::move(message.bytes));
  }
}

void Connection::Close(End end, const absl::Status& why) {
  Side& reader = side(end);
  if (std::exchange(reader.closed, true) || !reader.reader.on_closed) return;
  reader.reader.on_closed(why);
}

void Connection::Break(absl::Status why) {
  if (std::exchange(broken_, true)) return;
  for (const End end : {End::kCaller, End::kCalled}) {
    Side& one = side(end);
    one.taken.clear();
    for (Message& message : std::exchange(one.waiting, {})) {
      if (message.written) one.process->After(kLocal, std::move(message.written));
    }
    if (one.closed) continue;
    const SteadyTime healed = network_->PartitionedUntil(rank(end), rank(Other(end)));
    if (healed == SteadyTime::max()) continue;
    network_->time_->At(
        std::max(healed, network_->time_->now()) + network_->Latency(rank(end), rank(Other(end))),
        [self = shared_from_this(), end, why] {
          self->side(end).process->Do([self, end, why] { self->Close(end, why); });
        });
  }
}

void Connection::BreakFrom(End end, absl::Status why) {
  side(end).closed = true;
  Break(std::move(why));
}

void Connection::Orphan(End end, absl::Status why) {
  side(end).waiting.clear();
  side(end).waiting.push_back({.last = true, .broken = true, .status = std::move(why)});
  TakeIn(end);
}

SimulatedNetwork::~SimulatedNetwork() {
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection == nullptr) continue;
    for (Connection::Side& side : connection->sides_) side = {.process = side.process};
  }
}

void SimulatedNetwork::Listen(Process* process, const std::string& service, Accept accept) {
  listening_[{process, service}] = std::move(accept);
}

std::shared_ptr<Connection> SimulatedNetwork::Connect(Process* caller, Process* called,
                                                      const std::string& service, size_t window) {
  auto connection = std::make_shared<Connection>(this, caller, called, service, window);
  connections_.push_back(connection);
  const std::pair<const Process*, std::string> key(called, service);
  const SteadyTime starts =
      std::max(time_->now(), PartitionedUntil(caller->rank(), called->rank()));
  if (starts == SteadyTime::max()) return connection;
  time_->At(starts + Latency(caller->rank(), called->rank()), [this, connection, called, key] {
    const auto cut =
        cuts_.find({Pair(connection->rank(Connection::End::kCaller), called->rank()), key.second});
    const bool refused = cut != cuts_.end() && cut->second > time_->now();
    if (refused || !called->alive() || !listening_.contains(key)) {
      return connection->BreakFrom(Connection::End::kCalled,
                                   absl::UnavailableError("connection refused"));
    }
    called->Do([this, connection, key] { listening_.at(key)(connection); });
  });
  return connection;
}

void SimulatedNetwork::Probe(Process* caller, Process* called,
                             std::function<void(bool refused)> answer) {
  const auto after_a_latency = [this, a = caller->rank(), b = called->rank()](auto what) {
    const SteadyTime healed = PartitionedUntil(a, b);
    if (healed != SteadyTime::max()) {
      time_->At(std::max(time_->now(), healed) + Latency(a, b), std::move(what));
    }
  };
  // The kernel answers, also for a process that is stopped.
  after_a_latency([caller, called, after_a_latency, answer = std::move(answer)] {
    after_a_latency([caller, refused = !called->alive(), answer] {
      caller->Do([refused, answer] { answer(refused); });
    });
  });
}

void SimulatedNetwork::EndProcess(Process* process, const std::string& why) {
  process->End();
  for (const auto& connection : ConnectionsOf(process->rank())) {
    for (const auto end : {Connection::End::kCaller, Connection::End::kCalled}) {
      if (connection->rank(end) != process->rank()) continue;
      connection->Orphan(end, absl::UnavailableError(why));
    }
  }
}

void SimulatedNetwork::Reset(Rank a, Rank b) {
  for (const auto& connection : ConnectionsBetween(a, b)) {
    connection->Break(absl::UnavailableError("connection reset by peer"));
  }
}

void SimulatedNetwork::Cut(Rank a, Rank b, const std::string& service, SteadyTime until) {
  cuts_[{Pair(a, b), service}] = until;
  for (const auto& connection : ConnectionsBetween(a, b)) {
    if (connection->service() != service) continue;
    connection->Break(absl::UnavailableError("connection reset by peer"));
  }
}

std::vector<std::shared_ptr<Connection>> SimulatedNetwork::ConnectionsBetween(Rank a, Rank b) {
  std::vector<std::shared_ptr<Connection>> found = ConnectionsOf(a);
  std::erase_if(found, [&](const auto& connection) {
    return Pair(connection->rank(Connection::End::kCaller),
                connection->rank(Connection::End::kCalled)) != Pair(a, b);
  });
  return found;
}

SteadyTime SimulatedNetwork::PartitionedUntil(Rank a, Rank b) const {
  const auto found = partitions_.find(Pair(a, b));
  return found == partitions_.end() ? SteadyTime::min() : found->second;
}

std::chrono::nanoseconds SimulatedNetwork::Latency(Rank a, Rank b) {
  if (a == b) return kLocal;
  return options_.latency + std::chrono::nanoseconds(
                                random_.Below(static_cast<uint64_t>(options_.jitter.count()) + 1));
}

std::vector<std::shared_ptr<Connection>> SimulatedNetwork::ConnectionsOf(Rank rank) {
  std::vector<std::shared_ptr<Connection>> found;
  std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection->rank(Connection::End::kCaller) == rank ||
        connection->rank(Connection::End::kCalled) == rank) {
      found.push_back(connection);
    }
  }
  return found;
}

}  // namespace grapevine::testing
