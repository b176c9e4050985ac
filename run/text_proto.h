// Reads a user's file as the text form of a protocol buffer.
#ifndef GRAPEVINE_RUN_TEXT_PROTO_H_
#define GRAPEVINE_RUN_TEXT_PROTO_H_

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"

namespace grapevine {

// Reads the file `path` into `message`, and into `positions` the line (counted from 0) of every
// field. A file that cannot be read is kInput. Content that is not of the message's type is
// `bad_content`; that error begins with FILE:LINE.
absl::Status ReadTextProto(const std::string& path, Failure bad_content,
                           google::protobuf::Message* message,
                           google::protobuf::TextFormat::ParseInfoTree* positions);

// Reads `text`, which is not a file of its own, into `message`; see ReadTextProto. Errors call the
// text `name`.
absl::Status ParseTextProto(const std::string& name, std::string_view text, Failure bad_content,
                            google::protobuf::Message* message,
                            google::protobuf::TextFormat::ParseInfoTree* positions);

// Returns the error "FILE:LINE: WHAT", the line counted from 1.
absl::Status ErrorAtLine(const std::string& path, int line, std::string_view what, Failure failure);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TEXT_PROTO_H_
