// gRPC's byte buffers, to and from the messages of wire_format.h.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_BYTES_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_BYTES_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "node/transport/message_memory.h"

namespace grapevine {

grpc::ByteBuffer ToByteBuffer(const std::string& bytes);

// `header` and the data behind it, which is not copied: the buffer keeps it alive until gRPC
// releases it.
grpc::ByteBuffer ToByteBuffer(const std::string& header, const SharedBytes& data);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_BYTES_H_
