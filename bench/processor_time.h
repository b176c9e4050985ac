// The processor time of this process.
#ifndef GRAPEVINE_BENCH_PROCESSOR_TIME_H_
#define GRAPEVINE_BENCH_PROCESSOR_TIME_H_

#include <time.h>

namespace grapevine {

inline double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_PROCESSOR_TIME_H_
