// A file descriptor with an owner, writing to one, and how many this process may have open.
#ifndef GRAPEVINE_SYSTEM_FILE_DESCRIPTOR_H_
#define GRAPEVINE_SYSTEM_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <string_view>
#include <utility>

namespace grapevine {

// Closed on destruction; -1 is none. Thread-compatible.
class UniqueDescriptor {
 public:
  UniqueDescriptor() = default;
  explicit UniqueDescriptor(int descriptor) : descriptor_(descriptor) {}
  UniqueDescriptor(UniqueDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  UniqueDescriptor& operator=(UniqueDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~UniqueDescriptor() { Close(); }

  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  void Close() {
    if (open()) close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

// Writes all bytes, however often the system interrupts; returns 0 or the errno, after which a part
// may have been written. Thread-safe.
int WriteAll(int descriptor, std::string_view bytes);

// Raises the soft limit, which is low for the sake of programs that use select(), to
// the hard one. Where that fails it stays as it was. Thread-safe.
void RaiseDescriptorLimit();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_FILE_DESCRIPTOR_H_
