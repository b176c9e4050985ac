// The functions of cuBLASLt that we call, loaded when the first is needed.
//
// Thread-safe.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_BLAS_LIBRARY_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_BLAS_LIBRARY_H_

#include <cublasLt.h>

#include "absl/status/status.h"

namespace grapevine {

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

// Unavailable where it is not installed.
absl::Status LoadBlas();

// Where LoadBlas is OK.
const BlasLibrary& Blas();

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_BLAS_LIBRARY_H_
