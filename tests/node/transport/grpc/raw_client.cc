#include "tests/node/transport/grpc/raw_client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/security/credentials.h>

#include <chrono>
#include <utility>

#include "kernels/passes/crc32c.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

using Factory = grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>;

constexpr char kMethod[] = "/grapevine.gossip.Gossip/Exchange";

std::shared_ptr<grpc::Channel> OwnConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

RawClient::RawClient(const std::string& address) : RawClient(OwnConnection(address)) {}

RawClient::RawClient(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {
  call_.set_deadline(std::chrono::system_clock::now() + testing::Patient(std::chrono::seconds(20)));
  call_.set_wait_for_ready(true);
  const grpc::internal::RpcMethod method(kMethod, grpc::internal::RpcMethod::BIDI_STREAMING);
  stream_.reset(Factory::Create(channel_.get(), method, &call_));
}

bool RawClient::SendBytes(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return stream_->Write(grpc::ByteBuffer(&slice, 1));
}

std::optional<gossip::ToSender> RawClient::Receive() {
  grpc::ByteBuffer buffer;
  if (!stream_->Read(&buffer)) return std::nullopt;
  grpc::Slice slice;
  gossip::ToSender message;
  if (!buffer.DumpToSingleSlice(&slice).ok() ||
      !message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) {
    return std::nullopt;
  }
  return message;
}

bool RawClient::SayHello(const EdgeIdentity& identity) {
  if (!Send(HelloMessage(identity))) return false;
  const std::optional<gossip::ToSender> answer = Receive();
  return answer.has_value() && answer->has_hello();
}

bool RawClient::AwaitGrant(Tag tag) {
  while (const std::optional<gossip::ToSender> message = Receive()) {
    for (const gossip::Tag& granted : message->grant().tags()) {
      if (granted.index() == tag.index && granted.step() == tag.step &&
          granted.channel() == tag.channel) {
        return true;
      }
    }
  }
  return false;
}

grpc::Status RawClient::End() {
  while (Receive().has_value()) continue;
  return stream_->Finish();
}

gossip::ToReceiver HelloMessage(const EdgeIdentity& identity) {
  gossip::ToReceiver message;
  gossip::Hello* hello = message.mutable_hello();
  hello->set_protocol_version(identity.protocol_version);
  hello->set_run_id(identity.run_id);
  hello->set_rank(identity.rank);
  hello->set_world_size(identity.world_size);
  hello->set_schema(identity.schema);
  hello->set_topology(identity.topology);
  hello->set_algorithm(identity.algorithm);
  hello->set_listener(identity.listener);
  hello->set_proof(identity.proof);
  hello->set_process(identity.call.process);
  hello->set_call(identity.call.number);
  return message;
}

gossip::ToReceiver ChunkMessage(Tag tag, const std::string& data) {
  gossip::ToReceiver message;
  gossip::Chunk* chunk = message.mutable_chunk();
  chunk->mutable_tag()->set_channel(tag.channel);
  chunk->mutable_tag()->set_index(tag.index);
  chunk->mutable_tag()->set_step(tag.step);
  chunk->set_total(data.size());
  chunk->set_crc32c(Crc32c(0, data.data(), data.size()));
  chunk->set_data(data);
  return message;
}

}  // namespace grapevine
