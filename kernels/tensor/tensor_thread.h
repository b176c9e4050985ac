// Settings of a thread that runs tensor operations.
#ifndef GRAPEVINE_KERNELS_TENSOR_TENSOR_THREAD_H_
#define GRAPEVINE_KERNELS_TENSOR_TENSOR_THREAD_H_

#include "kernels/passes/denormals.h"

namespace grapevine {

// While in scope, makes the tensor operations of the calling thread use only this thread and flush
// denormals. With one tensor thread per replica, the nodes of a machine do not fight over cores,
// OpenMP does not spin, and the order of summation is fixed. The setting is OpenMP's and therefore
// belongs to the calling thread; no other code touches it.
class TensorThread {
 public:
  TensorThread();
  ~TensorThread();
  TensorThread(const TensorThread&) = delete;
  TensorThread& operator=(const TensorThread&) = delete;

 private:
  const int threads_before_;
  const FlushDenormals flush_denormals_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_TENSOR_THREAD_H_
