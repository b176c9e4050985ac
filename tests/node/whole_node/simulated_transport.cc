#include "tests/node/whole_node/simulated_transport.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/transport/credit_desk.h"
#include "node/transport/edge/conversation.h"
#include "node/transport/edge/reconnection.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/grpc/write_loop.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;

// In chunks: a peer that does not read is soon felt.
constexpr size_t kWindow = 4;
constexpr int kTicksPerBeat = 4;

// As GrpcTransport's.
milliseconds TickFor(milliseconds peer_timeout) {
  return std::clamp(peer_timeout / (4 * kTicksPerBeat), milliseconds(5), milliseconds(200));
}

template <typename Talk>
absl::Status Hear(Talk& talk, const std::string& bytes) {
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  return talk.Hear(&in, static_cast<int64_t>(bytes.size()));
}

// One attempt to send to a peer: what GrpcOutgoingStream is.
class OutgoingStream final : public EdgeStream,
                             public std::enable_shared_from_this<OutgoingStream> {
 public:
  using Retry = std::function<void(const absl::Status&)>;

  OutgoingStream(SendingEnd::Context context, Process* process, Retry retry)
      : talk_(std::move(context)), process_(process), retry_(std::move(retry)) {}

  void Start(std::shared_ptr<Connection> connection) {
    connection_ = std::move(connection);
    connection_->Read(
        Connection::End::kCaller,
        {.on_message = [self = shared_from_this()](const std::string& bytes) { self->Read(bytes); },
         .on_closed = [self = shared_from_this()](const absl::Status& why) { self->Closed(why); }});
    Wake();
  }

  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status&) override { Cancel(); }
  void Leave() override {
    if (!connected()) return Cancel();
    talk_.SayGoodbye();
    Wake();
  }
  void Beat() {
    talk_.Beat();
    Wake();
  }
  void Cancel() {
    connection_->BreakFrom(Connection::End::kCaller, absl::CancelledError("the call is cancelled"));
    process_->After(
        {}, [self = shared_from_this()] { self->Closed(absl::CancelledError("cancelled here")); });
  }
  bool connected() const { return talk_.connected(); }
  bool closed() const { return closed_; }
  SilenceWatch& watch() { return talk_.watch(); }

 private:
  bool WriteNext() {
    std::optional<SendingEnd::Message> message = talk_.Next();
    if (!message.has_value()) return false;
    connection_->Write(Connection::End::kCaller, std::move(message->bytes),
                       std::move(message->data),
                       [self = shared_from_this()] { self->writes_.Written(); });
    return true;
  }
  void Read(const std::string& bytes) {
    if (closed_) return;
    Hear(talk_, bytes).ok() ? Wake() : Cancel();
  }
  void Closed(const absl::Status& why) {
    if (std::exchange(closed_, true)) return;
    status_ = why;
    connection_->Finish(Connection::End::kCaller, absl::OkStatus());
    writes_.Close();
  }
  void Finish() {
    process_->After({}, [self = shared_from_this()] {
      const absl::Status mendable = self->talk_.Ended(self->status_);
      if (!mendable.ok()) self->retry_(mendable);
    });
  }

  SendingEnd talk_;
  Process* const process_;
  const Retry retry_;
  std::shared_ptr<Connection> connection_;
  WriteLoop writes_{[this] { return WriteNext(); }, [this] { Finish(); }};
  bool closed_ = false;
  absl::Status status_;
};

}  // namespace

// The attempts to send to one peer: what GrpcOutgoingEdge is.
class SimulatedTransport::Edge : public std::enable_shared_from_this<Edge> {
 public:
  Edge(SimulatedTransport* transport, std::shared_ptr<PeerLink> link)
      : transport_(*transport),
        link_(std::move(link)),
        attempts_(link_->peer(), transport_.Address(link_->peer()),
                  transport_.options_.connect_timeout) {}

  void Dial() {
    const RunToken& token = transport_.options_.token;
    EdgeIdentity self = transport_.self_;
    self.call.number = ++calls_;
    stream_ = std::make_shared<OutgoingStream>(
        SendingEnd::Context{Proven(std::move(self), link_->peer(), EdgeEnd::kCaller, token), token,
                            link_, transport_.Address(link_->peer()), transport_.checksums_,
                            transport_.options_.round},
        transport_.process(), [edge = weak_from_this()](const absl::Status& why) {
          if (const auto alive = edge.lock()) alive->attempts_.Failed(why);
        });
    stream_->Start(transport_.network_->Connect(
        transport_.process(), (*transport_.processes_)[link_->peer()], kService, kWindow));
    if (!link_->AttachOutgoing(stream_).ok()) return stream_->Cancel();
    stream_->Wake();
  }
  void Tick(milliseconds tick) {
    if (link_->outgoing_over()) return;
    if (!connected()) return NotConnected(tick);
    if (stream_->watch().Tick(tick) < transport_.options_.peer_timeout) return;
    link_->Break(SilentPeer(link_->peer(), transport_.Address(link_->peer()), stream_->watch(),
                            transport_.options_.peer_timeout));
  }
  void Beat() { stream_->Beat(); }
  std::string Connecting() {
    return link_->outgoing_over() || connected() ? "" : attempts_.Describe();
  }
  bool quiet() const { return stream_->closed(); }

 private:
  bool connected() const { return stream_->connected() && !link_->outgoing_interrupted(); }
  void NotConnected(milliseconds tick) {
    if (link_->outgoing_interrupted()) {
      if (attempts_.TakeRetry()) Dial();
      return;
    }
    const absl::StatusOr<bool> again = attempts_.Tick(tick);
    if (!again.ok()) return link_->Break(again.status());
    if (*again) Dial();
  }

  SimulatedTransport& transport_;
  const std::shared_ptr<PeerLink> link_;
  DialAttempts attempts_;
  uint64_t calls_ = 0;
  std::shared_ptr<OutgoingStream> stream_;
};

// A stream on which a peer sends to this node: what GrpcIncomingStream is.
class SimulatedTransport::Caller final : public EdgeCaller,
                                         public std::enable_shared_from_this<Caller> {
 public:
  Caller(SimulatedTransport* transport, std::shared_ptr<Connection> connection)
      : transport_(*transport),
        connection_(std::move(connection)),
        talk_({.round = transport_.options_.round,
               .on_hello =
                   [this](const EdgeIdentity& peer) {
                     transport_.acceptor_.OnHello(shared_from_this(), peer);
                   },
               .leave = [this] { Leave(); }}) {}

  void Start() {
    connection_->Read(
        Connection::End::kCalled,
        {.on_message = [self = shared_from_this()](const std::string& bytes) { self->Read(bytes); },
         .on_closed = [self = shared_from_this()](const absl::Status&) { self->Disconnected(); }});
  }
  void AnswerHello(const EdgeIdentity& self) override {
    talk_.AnswerHello(self);
    Wake();
  }
  void Admit(std::shared_ptr<PeerLink> link) override {
    const absl::Status status = talk_.Admit(std::move(link));
    if (!status.ok()) return Violated(status);
    Wake();
  }
  std::string address() const override {
    return transport_.Address(connection_->rank(Connection::End::kCaller));
  }

  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override {
    if (!end_.has_value()) end_ = why;
    writes_.Close();
  }
  void Leave() override {
    if (!end_.has_value()) end_ = absl::OkStatus();
    writes_.Finish();
  }
  bool admitted() const { return talk_.admitted(); }
  bool quiet() const { return end_.has_value(); }
  void Beat() {
    talk_.Beat();
    Wake();
  }
  void Tick(milliseconds tick) {
    if (end_.has_value()) return;
    const milliseconds peer_timeout = transport_.options_.peer_timeout;
    if (talk_.admitted()) return talk_.Tick(tick, peer_timeout, address());
    const absl::Status patient = talk_.TickUnadmitted(tick, peer_timeout);
    if (!patient.ok()) transport_.acceptor_.Reject(*this, patient);
  }

 private:
  bool WriteNext() {
    const std::optional<ToSender> message = talk_.Next();
    if (!message.has_value()) return false;
    connection_->Write(Connection::End::kCalled, Encode(*message), {},
                       [self = shared_from_this()] { self->writes_.Written(); });
    return true;
  }
  void Read(const std::string& bytes) {
    if (end_.has_value()) return;
    const absl::Status heard = Hear(talk_, bytes);
    if (!heard.ok()) Violated(heard);
  }
  void Violated(const absl::Status& how) {
    if (!talk_.admitted()) return transport_.acceptor_.Reject(*this, how);
    Abort(talk_.Violated(how, address()));
  }
  void Disconnected() {
    if (!end_.has_value() && talk_.admitted()) talk_.Broke(address());
    Abort(absl::CancelledError("the caller is gone"));
  }
  void Finish() {
    connection_->Finish(Connection::End::kCalled, *end_);
    talk_.Closed();
    transport_.acceptor_.OnClosed(this);
  }

  SimulatedTransport& transport_;
  const std::shared_ptr<Connection> connection_;
  ReceivingEnd talk_;
  WriteLoop writes_{[this] { return WriteNext(); }, [this] { Finish(); }};
  std::optional<absl::Status> end_;
};

SimulatedTransport::SimulatedTransport(EdgeIdentity self, SimulatedTransportOptions options,
                                       SimulatedNetwork* network,
                                       const std::vector<Process*>* processes, TransportSink* sink)
    : self_(std::move(self)),
      options_(std::move(options)),
      tick_(TickFor(options_.peer_timeout)),
      network_(network),
      processes_(processes),
      process_((*processes)[self_.rank]),
      gate_(std::make_shared<SinkGate>(sink)),
      links_(std::make_shared<PeerLinks>(
          self_.rank, self_.world_size, options_.chunk_bytes, gate_,
          std::make_shared<CreditDesk>([process = process()] { return process->now(); }))),
      acceptor_(options_.token, links_),
      checksums_(std::make_shared<ChecksumsInFlight>()) {
  network_->Listen(process(), kService, [this](std::shared_ptr<Connection> connection) {
    joined_ ? Receive(std::move(connection)) : early_.push_back(std::move(connection));
  });
  ScheduleTick();
}

// Links and streams of a process that was killed hold each other.
SimulatedTransport::~SimulatedTransport() { Shutdown(); }

std::string SimulatedTransport::Address(Rank rank) const {
  return absl::StrCat("node", rank, ":1");
}

void SimulatedTransport::Join(std::string run_id) {
  self_.run_id = std::move(run_id);
  joined_ = true;
  acceptor_.Open(self_);
  for (auto& connection : std::exchange(early_, {})) Receive(std::move(connection));
}

void SimulatedTransport::Receive(std::shared_ptr<Connection> connection) {
  callers_.push_back(std::make_shared<Caller>(this, std::move(connection)));
  callers_.back()->Start();
  if (left_) callers_.back()->Abort(absl::UnavailableError("came when this node had left the run"));
}

absl::Status SimulatedTransport::EnsureDialled(Rank peer) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(peer));
  if (left_ || edges_.contains(peer)) return absl::OkStatus();
  const auto edge = std::make_shared<Edge>(this, link);
  edges_[peer] = edge;
  edge->Dial();
  return absl::OkStatus();
}

void SimulatedTransport::Dial(std::span<const Rank> peers) {
  acceptor_.Expect(peers);
  for (const Rank peer : peers) EnsureDialled(peer).IgnoreError();
}

absl::Status SimulatedTransport::Send(Rank to, Tag tag, Outgoing message) {
  RETURN_IF_ERROR(EnsureDialled(to));
  std::shared_ptr<MessageChecksum> checksum = checksums_->Of(message.bytes);
  return (*links_->To(to))->Send(tag, std::move(message), std::move(checksum));
}

absl::Status SimulatedTransport::Post(Rank from, Tag tag, Incoming buffer) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(from));
  acceptor_.Expect({&from, 1});
  return link->Post(tag, std::move(buffer));
}

absl::Status SimulatedTransport::Decline(Rank from, Tag tag) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(from));
  return link->Decline(tag);
}

absl::Status SimulatedTransport::Withdraw(Rank from, Tag tag) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(from));
  return link->Withdraw(tag);
}

void SimulatedTransport::GiveUp(Rank peer, const absl::Status& why) {
  (*links_->To(peer))->GiveUp(why);
  acceptor_.Forget(peer);
}

void SimulatedTransport::TakeIn(Rank peer) {
  links_->Renew(peer, newcomers_.at(peer));
  gate_->TakeIn(peer);
  edges_.erase(peer);
}

std::string SimulatedTransport::Connecting() const {
  for (const auto& [peer, edge] : edges_) {
    if (std::string described = edge->Connecting(); !described.empty()) return described;
  }
  return "";
}

void SimulatedTransport::ScheduleTick() {
  process()->After(tick_, [this] {
    if (left_) return;
    Tick();
    ScheduleTick();
  });
}

void SimulatedTransport::Tick() {
  const std::vector<std::shared_ptr<Caller>> callers = callers_;
  const std::map<Rank, std::shared_ptr<Edge>> edges = edges_;
  for (const auto& caller : callers) caller->Tick(tick_);
  for (const auto& [peer, edge] : edges) edge->Tick(tick_);
  for (const auto& link : links_->All()) link->Tick(tick_, options_.peer_timeout);
  if (++ticks_ % kTicksPerBeat != 0) return;
  for (const auto& caller : callers) caller->Beat();
  for (const auto& [peer, edge] : edges) edge->Beat();
}

void SimulatedTransport::Shutdown() {
  gate_->Close();
  if (std::exchange(left_, true)) return;
  for (const auto& caller : callers_) {
    if (!caller->admitted()) caller->Abort(absl::UnavailableError("this node left the run"));
  }
  for (const auto& link : links_->All()) link->Leave();
}

bool SimulatedTransport::quiet() const {
  return std::ranges::all_of(edges_, [](const auto& edge) { return edge.second->quiet(); }) &&
         std::ranges::all_of(callers_, [](const auto& caller) { return caller->quiet(); });
}

}  // namespace grapevine::testing
