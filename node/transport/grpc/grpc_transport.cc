#include "node/transport/grpc/grpc_transport.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "glog/logging.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

// Peers that still read hear the end of what was sent within kLinger. gRPC ends streams that are
// then cancelled within kCancelled.
constexpr std::chrono::seconds kLinger{1};
constexpr std::chrono::seconds kCancelled{10};

constexpr int kTicksPerBeat = 4;

// Returns the tick for which four heartbeats fall within the time-out and four ticks between two
// heartbeats; within fixed bounds.
milliseconds TickFor(const GrpcTransportOptions& options) {
  return std::clamp(options.peer_timeout / (4 * kTicksPerBeat), milliseconds(5), milliseconds(200));
}

}  // namespace

GrpcTransport::GrpcTransport(EdgeIdentity self, GrpcTransportOptions options, TransportSink* sink)
    : self_(std::move(self)),
      options_(std::move(options)),
      tick_(TickFor(options_)),
      gate_(std::make_shared<SinkGate>(sink)),
      links_(
          std::make_shared<PeerLinks>(self_.rank, self_.world_size, options_.chunk_bytes, gate_)),
      streams_(std::make_shared<StreamCount>()),
      checksums_(std::make_shared<ChecksumsInFlight>()),
      queue_(std::make_shared<GrpcQueue>()),
      service_(std::make_shared<GrpcGossipService>(options_, links_, streams_, queue_)) {
  CHECK(options_.chunk_bytes > 0 && options_.chunk_bytes <= GrpcTransportOptions::kMaxChunkBytes)
      << options_.chunk_bytes;
  MutexLock lock(shutdown_);
  monitor_ = std::thread([this] { Monitor(); });
}

GrpcTransport::~GrpcTransport() {
  Shutdown();
  queue_->Stop();
}

void GrpcTransport::AddTo(grpc::ServerBuilder& builder) {
  queue_->AddTo(builder);
  builder.RegisterService(service_->service());
}

void GrpcTransport::Join(std::string run_id, std::vector<std::string> addresses) {
  CHECK_EQ(addresses.size(), static_cast<size_t>(self_.world_size));
  self_.run_id = std::move(run_id);
  {
    MutexLock lock(mutex_);
    CHECK(addresses_.empty()) << "joined twice";
    addresses_ = std::move(addresses);
    for (Rank peer = 0; peer < self_.world_size; ++peer) {
      if (peer != self_.rank) service_->KeepPlaceFor(peer, addresses_[peer]);
    }
  }
  service_->Open(self_);
}

absl::Status GrpcTransport::EnsureDialled(Rank peer) {
  ASSIGN_OR_RETURN(std::shared_ptr<PeerLink> link, links_->To(peer));
  std::shared_ptr<GrpcOutgoingEdge> edge;
  {
    MutexLock lock(mutex_);
    CHECK(!addresses_.empty()) << "not joined";
    if (stopping_ || edges_.contains(peer)) return absl::OkStatus();
    // A peer without an address has not come, and is left out soon.
    if (addresses_[peer].empty()) return absl::OkStatus();
    edge = std::make_shared<GrpcOutgoingEdge>(GrpcOutgoingEdge::Context{
        self_, options_, link, addresses_[peer], checksums_, streams_, queue_});
    edge->Dial();
    edges_.emplace(peer, edge);
  }
  return absl::OkStatus();
}

void GrpcTransport::Dial(std::span<const Rank> peers) {
  service_->Expect(peers);
  for (const Rank peer : peers) {
    const absl::Status status = EnsureDialled(peer);
    CHECK(status.ok()) << status;
  }
}

absl::Status GrpcTransport::Send(Rank to, Tag tag, Outgoing message) {
  RETURN_IF_ERROR(EnsureDialled(to));
  std::shared_ptr<MessageChecksum> checksum = checksums_->Of(message.bytes);
  return (*links_->To(to))->Send(tag, std::move(message), std::move(checksum));
}

absl::Status GrpcTransport::Post(Rank from, Tag tag, Incoming buffer) {
  ASSIGN_OR_RETURN(std::shared_ptr<PeerLink> link, links_->To(from));
  service_->Expect({&from, 1});
  return link->Post(tag, std::move(buffer));
}

absl::Status GrpcTransport::Decline(Rank from, Tag tag) {
  ASSIGN_OR_RETURN(std::shared_ptr<PeerLink> link, links_->To(from));
  return link->Decline(tag);
}

absl::Status GrpcTransport::Withdraw(Rank from, Tag tag) {
  ASSIGN_OR_RETURN(std::shared_ptr<PeerLink> link, links_->To(from));
  return link->Withdraw(tag);
}

void GrpcTransport::GiveUp(Rank peer, const absl::Status& why) {
  const absl::StatusOr<std::shared_ptr<PeerLink>> link = links_->To(peer);
  CHECK(link.ok()) << link.status();
  (*link)->GiveUp(why);
  service_->Forget(peer);
  std::shared_ptr<GrpcOutgoingEdge> edge;  // destroyed without the lock
  MutexLock lock(mutex_);
  edge = std::exchange(edges_[peer], nullptr);
}

void GrpcTransport::Expect(Rank peer, uint64_t process, std::string address) {
  MutexLock lock(mutex_);
  newcomers_.insert_or_assign(peer, Newcomer{process, std::move(address)});
}

void GrpcTransport::TakeIn(Rank peer) {
  uint64_t process = 0;
  std::shared_ptr<GrpcOutgoingEdge> edge;  // destroyed without the lock
  {
    MutexLock lock(mutex_);
    auto newcomer = newcomers_.extract(peer);
    CHECK(!newcomer.empty()) << "rank " << peer << " is not expected";
    process = newcomer.mapped().process;
    addresses_[peer] = std::move(newcomer.mapped().address);
    service_->KeepPlaceFor(peer, addresses_[peer]);
    if (auto before = edges_.extract(peer)) edge = std::move(before.mapped());
  }
  links_->Renew(peer, process);
  gate_->TakeIn(peer);
}

std::vector<std::shared_ptr<GrpcOutgoingEdge>> GrpcTransport::Edges() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<GrpcOutgoingEdge>> edges;
  for (const auto& [peer, edge] : edges_) {
    if (edge != nullptr) edges.push_back(edge);
  }
  return edges;
}

std::string GrpcTransport::Connecting() {
  for (const auto& edge : Edges()) {
    if (std::string peer = edge->Connecting(); !peer.empty()) return peer;
  }
  return "";
}

std::map<Rank, bool> GrpcTransport::Connected() {
  std::map<Rank, bool> connected;
  for (const auto& edge : Edges()) {
    if (!edge->over()) connected.emplace(edge->peer(), edge->connected());
  }
  return connected;
}

bool GrpcTransport::AwaitTick() {
  const auto deadline = std::chrono::steady_clock::now() + tick_;
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (!stop_.WaitUntil(mutex_, deadline)) return !stopping_;
  }
  return false;
}

void GrpcTransport::Monitor() {
  for (int ticks = 1; AwaitTick(); ++ticks) {
    Tick();
    if (ticks % kTicksPerBeat != 0) continue;
    service_->Beat();
    for (const auto& edge : Edges()) edge->Beat();
  }
}

void GrpcTransport::Tick() {
  service_->Tick(tick_);
  for (const auto& edge : Edges()) edge->Tick(tick_);
  for (const auto& link : links_->All()) link->Tick(tick_, options_.peer_timeout);
}

void GrpcTransport::StopMonitor() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  monitor_.join();
}

void GrpcTransport::Shutdown() {
  gate_->Close();
  MutexLock lock(shutdown_);
  if (!monitor_.joinable()) return;
  StopMonitor();
  service_->Close();
  for (const auto& link : links_->All()) link->Leave();
  if (streams_->AwaitNone(std::chrono::steady_clock::now() + kLinger)) return;
  for (const auto& edge : Edges()) edge->Cancel();
  service_->Cancel();
  if (!streams_->AwaitNone(std::chrono::steady_clock::now() + kCancelled)) {
    LOG(ERROR) << "gRPC streams of rank " << self_.rank << " did not end when cancelled";
  }
}

}  // namespace grapevine
