// Messages over a pair of pipes, such as those to a program on another host: each is preceded by
// its length, a 32-bit number, low byte first.
#ifndef GRAPEVINE_NODE_LAUNCH_MESSAGE_PIPE_H_
#define GRAPEVINE_NODE_LAUNCH_MESSAGE_PIPE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/file_descriptor.h"

namespace google::protobuf {
class MessageLite;
}

namespace grapevine {

// What comes out of a descriptor, cut into lines and messages. Thread-compatible.
class MessageReader {
 public:
  // The first line that begins with `greeting`; none if it has not come. What is before it is
  // whatever a shell says to who logs in; kMaxNoise bytes of it are one too many.
  absl::StatusOr<std::optional<std::string>> Greeting(std::string_view greeting);
  // The next message; none if it has not come whole. An error if it is longer than kMaxMessage.
  absl::StatusOr<std::optional<std::string>> Next();

  // Takes what is there, at most kMaxBurst bytes. Closes the descriptor at end of file, and where
  // reading fails.
  void Read(UniqueDescriptor& descriptor);
  void Take(std::string_view bytes) { bytes_ += bytes; }

  static constexpr size_t kMaxNoise = 65536;
  static constexpr size_t kMaxMessage = 4 << 20;
  static constexpr size_t kMaxBurst = 1 << 20;

 private:
  std::string bytes_;
  size_t taken_ = 0;  // of bytes_
};

// What goes into a descriptor that does not block. Thread-compatible; SIGPIPE is to be blocked.
class MessageWriter {
 public:
  void Add(std::string_view line);  // with its break
  void Add(const google::protobuf::MessageLite& message);
  // Writes what the descriptor takes. An error if nobody will read it.
  absl::Status Write(const UniqueDescriptor& descriptor);

  // Bytes that wait.
  size_t waiting() const { return bytes_.size() - written_; }

 private:
  std::string bytes_;
  size_t written_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_MESSAGE_PIPE_H_
