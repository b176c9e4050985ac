// What this process asks of its disks at this moment. One that does not answer (a server that is
// gone, a frozen file system) keeps the thread that asks in the kernel, for as long as it likes;
// for which file, another thread sees here.
#ifndef GRAPEVINE_SYSTEM_DISK_WAIT_H_
#define GRAPEVINE_SYSTEM_DISK_WAIT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace grapevine {

// One call of the system, of the thread that makes this. To be destroyed there.
class DiskWait {
 public:
  // `path`, of the file or folder that is asked for, stays as it is until then.
  explicit DiskWait(const std::string& path);
  ~DiskWait();
  DiskWait(const DiskWait&) = delete;
  DiskWait& operator=(const DiskWait&) = delete;

  struct Pending {
    uint64_t number;  // no two calls have the same
    std::string path;
  };
  // The earliest that has yet to return, of this folder and what is in it. From any thread.
  static std::optional<Pending> Earliest(const std::string& folder);

 private:
  const uint64_t number_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DISK_WAIT_H_
