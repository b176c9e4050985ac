// Flush-to-zero for the thread that computes.
//
// Arithmetic on denormal numbers is many times slower, and flushing them changes bits. Every
// thread that computes flushes them, so that a run gives the same weights whatever thread computes
// them.
#ifndef GRAPEVINE_KERNELS_PASSES_DENORMALS_H_
#define GRAPEVINE_KERNELS_PASSES_DENORMALS_H_

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace grapevine {

// Flushes denormal results and operands to zero on this thread while in scope.
class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero);
  }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushToZero = 0x8000;
  static constexpr unsigned kDenormalsAreZero = 0x0040;
  const unsigned before_;

 public:
#else
  FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_DENORMALS_H_
