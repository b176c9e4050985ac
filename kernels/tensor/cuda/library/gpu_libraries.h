// The functions of cuDNN and cuBLASLt that we call, loaded on first use.
//
// Thread-safe.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_GPU_LIBRARIES_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_GPU_LIBRARIES_H_

#include <cublasLt.h>
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

// Loads cuDNN. Unavailable if it is not installed.
absl::Status LoadCudnn();

// Returns the functions of cuDNN. Requires that LoadCudnn is OK.
const CudnnLibrary& Cudnn();

struct BlasLibrary {
  decltype(&::cublasLtGetVersion) get_version;
  decltype(&::cublasLtGetStatusName) get_status_name;
  decltype(&::cublasLtGetStatusString) get_status_string;
  decltype(&::cublasLtCreate) create;
  decltype(&::cublasLtDestroy) destroy;
  decltype(&::cublasLtMatmulDescCreate) create_operation;
  decltype(&::cublasLtMatmulDescDestroy) destroy_operation;
  decltype(&::cublasLtMatmulDescSetAttribute) set_operation_attribute;
  decltype(&::cublasLtMatrixLayoutCreate) create_layout;
  decltype(&::cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&::cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&::cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) set_preference_attribute;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) find_algorithms;
  decltype(&::cublasLtMatmul) matmul;
};

// Loads cuBLASLt. Unavailable if it is not installed.
absl::Status LoadBlas();

// Returns the functions of cuBLASLt. Requires that LoadBlas is OK.
const BlasLibrary& Blas();

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_GPU_LIBRARIES_H_
