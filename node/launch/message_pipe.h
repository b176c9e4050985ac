// MessageReader and MessageWriter pass messages over a pair of pipes, such as those to a program on
// another host. Each message is preceded by its length, a 32-bit number, low byte first.
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

// Cuts the bytes that come out of a descriptor into lines and messages. Thread-compatible.
class MessageReader {
 public:
  // Returns the first line that begins with `greeting`; none if it has not come. Lines before it
  // are skipped: a shell may print some at login. Returns an error if the greeting has not come
  // within kMaxNoise bytes.
  absl::StatusOr<std::optional<std::string>> Greeting(std::string_view greeting);
  // Returns the next message; none if it has not come whole, an error if it is longer than
  // kMaxMessage.
  absl::StatusOr<std::optional<std::string>> Next();

  // Reads the bytes that are present, about kMaxBurst at most. Closes the descriptor at end of
  // file, and if reading fails.
  void Read(UniqueDescriptor& descriptor);
  void Take(std::string_view bytes) { bytes_ += bytes; }

  static constexpr size_t kMaxNoise = 65536;
  static constexpr size_t kMaxMessage = 4 << 20;
  static constexpr size_t kMaxBurst = 1 << 20;

 private:
  std::string bytes_;
  size_t taken_ = 0;  // the bytes of bytes_ that have been returned
};

// Queues messages and writes them to a non-blocking descriptor. Thread-compatible. SIGPIPE must be
// blocked.
class MessageWriter {
 public:
  void Add(std::string_view line);  // `line` includes its line break
  void Add(const google::protobuf::MessageLite& message);
  // Writes as many bytes as the descriptor takes. Returns an error if its other end is closed.
  absl::Status Write(const UniqueDescriptor& descriptor);

  // Returns the number of bytes that wait to be written.
  size_t waiting() const { return bytes_.size() - written_; }

 private:
  std::string bytes_;
  size_t written_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_MESSAGE_PIPE_H_
