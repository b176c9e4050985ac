#include "capi/library_log.h"

#include <glog/logging.h>

#include <mutex>

namespace grapevine {

// Until it is initialized, glog writes whatever passes its threshold to standard error.
void QuietenLog() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!google::IsGoogleLoggingInitialized()) FLAGS_minloglevel = google::GLOG_WARNING;
  });
}

}  // namespace grapevine
