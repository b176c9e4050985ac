#include "system/disk_wait.h"

#include <map>
#include <string_view>

#include "system/mutex.h"

namespace grapevine {
namespace {

struct Waits {
  Mutex mutex;
  uint64_t begun ABSL_GUARDED_BY(mutex) = 0;
  std::map<uint64_t, const std::string*> pending ABSL_GUARDED_BY(mutex);
};

// Returns an object that is never destroyed: a thread that a disk keeps waiting may outlive main.
Waits& AllWaits() {
  static Waits& waits = *new Waits;
  return waits;
}

uint64_t Begin(const std::string& path) {
  Waits& waits = AllWaits();
  MutexLock lock(waits.mutex);
  const uint64_t number = ++waits.begun;
  waits.pending.emplace(number, &path);
  return number;
}

bool IsIn(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  path.remove_prefix(folder.size());
  return path.empty() || path.starts_with('/') || folder.ends_with('/');
}

}  // namespace

DiskWait::DiskWait(const std::string& path) : number_(Begin(path)) {}

DiskWait::~DiskWait() {
  Waits& waits = AllWaits();
  MutexLock lock(waits.mutex);
  waits.pending.erase(number_);
}

std::optional<DiskWait::Pending> DiskWait::Earliest(const std::string& folder) {
  Waits& waits = AllWaits();
  MutexLock lock(waits.mutex);
  for (const auto& [number, path] : waits.pending) {
    if (IsIn(*path, folder)) return Pending{number, *path};
  }
  return std::nullopt;
}

}  // namespace grapevine
