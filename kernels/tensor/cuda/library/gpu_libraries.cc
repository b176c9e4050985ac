#include "kernels/tensor/cuda/library/gpu_libraries.h"

#include <glog/logging.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/tensor/cuda/library/shared_library.h"

namespace grapevine {
namespace {

absl::StatusOr<CudnnLibrary> FindCudnn() {
  SharedLibrary file(absl::StrCat("libcudnn.so.", CUDNN_MAJOR),
                     absl::StrCat("cuDNN ", CUDNN_MAJOR));
  CudnnLibrary library{};
  file.Find("cudnnGetVersion", &library.get_version);
  file.Find("cudnnGetErrorString", &library.get_error_string);
  file.Find("cudnnGetLastErrorString", &library.get_last_error_string);
  file.Find("cudnnCreate", &library.create);
  file.Find("cudnnDestroy", &library.destroy);
  file.Find("cudnnSetStream", &library.set_stream);
  file.Find("cudnnBackendCreateDescriptor", &library.create_descriptor);
  file.Find("cudnnBackendDestroyDescriptor", &library.destroy_descriptor);
  file.Find("cudnnBackendSetAttribute", &library.set_attribute);
  file.Find("cudnnBackendGetAttribute", &library.get_attribute);
  file.Find("cudnnBackendFinalize", &library.finalize);
  file.Find("cudnnBackendExecute", &library.execute);
  RETURN_IF_ERROR(file.status());
  return library;
}

const absl::StatusOr<CudnnLibrary>& LoadedCudnn() {
  static const absl::StatusOr<CudnnLibrary> loaded = FindCudnn();
  return loaded;
}

absl::StatusOr<BlasLibrary> FindBlas() {
  SharedLibrary file(absl::StrCat("libcublasLt.so.", CUBLAS_VER_MAJOR),
                     absl::StrCat("cuBLAS ", CUBLAS_VER_MAJOR));
  BlasLibrary library{};
  file.Find("cublasLtGetVersion", &library.get_version);
  file.Find("cublasLtGetStatusName", &library.get_status_name);
  file.Find("cublasLtGetStatusString", &library.get_status_string);
  file.Find("cublasLtCreate", &library.create);
  file.Find("cublasLtDestroy", &library.destroy);
  file.Find("cublasLtMatmulDescCreate", &library.create_operation);
  file.Find("cublasLtMatmulDescDestroy", &library.destroy_operation);
  file.Find("cublasLtMatmulDescSetAttribute", &library.set_operation_attribute);
  file.Find("cublasLtMatrixLayoutCreate", &library.create_layout);
  file.Find("cublasLtMatrixLayoutDestroy", &library.destroy_layout);
  file.Find("cublasLtMatmulPreferenceCreate", &library.create_preference);
  file.Find("cublasLtMatmulPreferenceDestroy", &library.destroy_preference);
  file.Find("cublasLtMatmulPreferenceSetAttribute", &library.set_preference_attribute);
  file.Find("cublasLtMatmulAlgoGetHeuristic", &library.find_algorithms);
  file.Find("cublasLtMatmul", &library.matmul);
  RETURN_IF_ERROR(file.status());
  return library;
}

const absl::StatusOr<BlasLibrary>& LoadedBlas() {
  static const absl::StatusOr<BlasLibrary> loaded = FindBlas();
  return loaded;
}

}  // namespace

absl::Status LoadCudnn() { return LoadedCudnn().status(); }

const CudnnLibrary& Cudnn() {
  CHECK(LoadedCudnn().ok()) << LoadedCudnn().status();
  return *LoadedCudnn();
}

absl::Status LoadBlas() { return LoadedBlas().status(); }

const BlasLibrary& Blas() {
  CHECK(LoadedBlas().ok()) << LoadedBlas().status();
  return *LoadedBlas();
}

}  // namespace grapevine
