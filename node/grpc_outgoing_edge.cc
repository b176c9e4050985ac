#include "node/grpc_outgoing_edge.h"

#include <grpcpp/create_channel.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "node/grpc_arguments.h"

namespace grapevine {
namespace {

double Seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

std::shared_ptr<grpc::Channel> NewChannel(const GrpcOutgoingEdge::Context& context) {
  const auto& credentials = context.options.credentials;
  return grpc::CreateCustomChannel(
      context.address, credentials != nullptr ? credentials : grpc::InsecureChannelCredentials(),
      TransportChannelArguments(context.address, context.options.peer_timeout));
}

}  // namespace

GrpcOutgoingEdge::GrpcOutgoingEdge(Context context)
    : context_(std::move(context)), channel_(NewChannel(context_)) {}

void GrpcOutgoingEdge::NoteRetry(const absl::Status& why) {
  MutexLock lock(mutex_);
  last_error_ = why;
  retry_ = true;
}

void GrpcOutgoingEdge::Dial() {
  auto retry = [edge = weak_from_this()](const absl::Status& why) {
    if (const auto alive = edge.lock()) alive->NoteRetry(why);
  };
  auto stream = std::make_shared<GrpcOutgoingStream>(GrpcOutgoingStream::Context{
      context_.self, context_.link, context_.address, context_.checksums, context_.options.round,
      retry, [streams = context_.streams] { streams->Remove(); }});
  {
    MutexLock lock(mutex_);
    stream_ = stream;
    retry_ = false;
  }
  context_.streams->Add();
  stream->Start(channel_, *context_.queue);
  if (!context_.link->AttachOutgoing(stream).ok()) return stream->Cancel();
  stream->Wake();
}

std::shared_ptr<GrpcOutgoingStream> GrpcOutgoingEdge::stream() {
  MutexLock lock(mutex_);
  return stream_;
}

void GrpcOutgoingEdge::Tick(std::chrono::milliseconds tick) {
  if (context_.link->broken()) return;
  const std::shared_ptr<GrpcOutgoingStream> current = stream();
  if (!current->connected()) return NotConnected(tick);
  const auto silence = current->watch().Tick(tick);
  if (silence < context_.options.peer_timeout) return;
  context_.link->Break(SilentPeer(context_.link->peer(), context_.address, current->watch(),
                                  context_.options.peer_timeout));
}

void GrpcOutgoingEdge::NotConnected(std::chrono::milliseconds tick) {
  absl::Status reason;
  {
    MutexLock lock(mutex_);
    trying_ += tick;
    if (trying_ < context_.options.connect_timeout && !retry_) return;
    if (trying_ >= context_.options.connect_timeout) {
      reason = last_error_.ok() ? absl::DeadlineExceededError("no answer") : last_error_;
    }
  }
  if (reason.ok()) return Dial();
  context_.link->Break(absl::UnavailableError(absl::StrFormat(
      "rank %d (%s) could not be reached within %.1f s (--connect-timeout); last: %s",
      context_.link->peer(), context_.address, Seconds(context_.options.connect_timeout),
      std::string(reason.message()))));
}

void GrpcOutgoingEdge::Beat() { stream()->Beat(); }

void GrpcOutgoingEdge::Cancel() { stream()->Cancel(); }

}  // namespace grapevine
