// The system calls for files that threads of this process are making at this moment. A disk that
// does not answer (a server that is gone, a frozen file system) keeps the calling thread in the
// kernel for an unlimited time; another thread learns here for which file.
#ifndef GRAPEVINE_SYSTEM_DISK_WAIT_H_
#define GRAPEVINE_SYSTEM_DISK_WAIT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace grapevine {

// Marks a system call of the current thread as pending during its lifetime. Must be destroyed on
// the thread that created it.
class DiskWait {
 public:
  // `path` names the file or folder of the call. It must outlive the DiskWait, unchanged.
  explicit DiskWait(const std::string& path);
  ~DiskWait();
  DiskWait(const DiskWait&) = delete;
  DiskWait& operator=(const DiskWait&) = delete;

  struct Pending {
    uint64_t number;  // unique among all calls
    std::string path;
  };
  // Returns the earliest pending call for `folder` or anything in it. Safe from any thread.
  static std::optional<Pending> Earliest(const std::string& folder);

 private:
  const uint64_t number_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DISK_WAIT_H_
