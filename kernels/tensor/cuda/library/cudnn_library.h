// The functions of cuDNN that we call, loaded when the first is needed.
//
// Thread-safe.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CUDNN_LIBRARY_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CUDNN_LIBRARY_H_

#include <cudnn_graph.h>

#include "absl/status/status.h"

namespace grapevine {

struct CudnnLibrary {
  decltype(&::cudnnGetVersion) get_version;
  decltype(&::cudnnGetErrorString) get_error_string;
  decltype(&::cudnnGetLastErrorString) get_last_error_string;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnDestroy) destroy;
  decltype(&::cudnnSetStream) set_stream;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&::cudnnBackendSetAttribute) set_attribute;
  decltype(&::cudnnBackendGetAttribute) get_attribute;
  decltype(&::cudnnBackendFinalize) finalize;
  decltype(&::cudnnBackendExecute) execute;
};

// Unavailable where it is not installed.
absl::Status LoadCudnn();

// Where LoadCudnn is OK.
const CudnnLibrary& Cudnn();

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_CUDNN_LIBRARY_H_
