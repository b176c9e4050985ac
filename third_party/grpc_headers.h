// What every file that speaks gRPC includes, and, of that, what a file that uses generated
// messages does, precompiled as //third_party:grpc_prefix. descriptor.pb.h comes with every message
// that has options of its own (run/config/config.proto), and is what of Protobuf takes longest to
// read.
#ifndef GRAPEVINE_THIRD_PARTY_GRPC_HEADERS_H_
#define GRAPEVINE_THIRD_PARTY_GRPC_HEADERS_H_

#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_THIRD_PARTY_GRPC_HEADERS_H_
