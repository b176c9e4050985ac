// Shows ThreadSanitizer an order of events that it cannot see, because it comes
// about inside a library of the system that is not instrumented. Nothing in
// other builds.
//
//   first thread:  AnnotateHappensBefore(object); Library(object);
//   second thread: ... called back by the library ...; AnnotateHappensAfter(object);
#ifndef GRAPEVINE_SYSTEM_HAPPENS_BEFORE_H_
#define GRAPEVINE_SYSTEM_HAPPENS_BEFORE_H_

#if defined(__SANITIZE_THREAD__)
#define GRAPEVINE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GRAPEVINE_THREAD_SANITIZER
#endif
#endif

#ifdef GRAPEVINE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace grapevine {

inline void AnnotateHappensBefore([[maybe_unused]] void* object) {
#ifdef GRAPEVINE_THREAD_SANITIZER
  __tsan_release(object);
#endif
}

inline void AnnotateHappensAfter([[maybe_unused]] void* object) {
#ifdef GRAPEVINE_THREAD_SANITIZER
  __tsan_acquire(object);
#endif
}

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_HAPPENS_BEFORE_H_
