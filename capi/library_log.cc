#include "capi/library_log.h"

#include <glog/logging.h>

#include <mutex>

namespace grapevine {

// An uninitialized glog writes a line of its own before the first warning. An initialized one would
// write files, if it did not log to standard error.
void QuietenLog() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (google::IsGoogleLoggingInitialized()) return;
    FLAGS_minloglevel = google::GLOG_WARNING;
    FLAGS_logtostderr = true;
    google::InitGoogleLogging("grapevine");
  });
}

}  // namespace grapevine
