#include "kernels/tensor/cuda/library/blas_library.h"

#include <glog/logging.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/tensor/cuda/library/shared_library.h"

namespace grapevine {
namespace {

absl::StatusOr<BlasLibrary> Load() {
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

const absl::StatusOr<BlasLibrary>& Loaded() {
  static const absl::StatusOr<BlasLibrary> loaded = Load();
  return loaded;
}

}  // namespace

absl::Status LoadBlas() { return Loaded().status(); }

const BlasLibrary& Blas() {
  CHECK(Loaded().ok()) << Loaded().status();
  return *Loaded();
}

}  // namespace grapevine
