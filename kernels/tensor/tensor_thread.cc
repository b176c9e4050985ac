#include "kernels/tensor/tensor_thread.h"

// Declared here because clang does not ship omp.h; the runtime is oneDNN's.
extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads(void);
}

namespace grapevine {

TensorThread::TensorThread() : threads_before_(omp_get_max_threads()) { omp_set_num_threads(1); }
TensorThread::~TensorThread() { omp_set_num_threads(threads_before_); }

}  // namespace grapevine
