// What every file that speaks gRPC includes, precompiled as
// //third_party:grpc_prefix.
#ifndef GRAPEVINE_THIRD_PARTY_GRPC_HEADERS_H_
#define GRAPEVINE_THIRD_PARTY_GRPC_HEADERS_H_

#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_THIRD_PARTY_GRPC_HEADERS_H_
