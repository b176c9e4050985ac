// A matrix product by cuBLASLt, with its epilogue.
//
// Matrices are column-major, as in cuBLASLt: a row-major (r, c) matrix is a (c, r) one here.
// Thread-compatible.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_BLAS_MATMUL_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_BLAS_MATMUL_H_

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

struct BlasMatrix {
  ElementType type = ElementType::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
  bool transposed = false;  // in the product

  int64_t bytes() const { return rows * columns * BytesOf(type); }
};

struct BlasProduct {
  std::string name;  // begins every error
  BlasMatrix a;
  BlasMatrix b;
  BlasMatrix d;  // = op(a) op(b)
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  ElementType bias = ElementType::kFloat32;  // or of its gradient, where the epilogue has one
  int64_t bias_size = 0;                     // 0: none
};

class BlasMatmul {
 public:
  // The fastest of cuBLASLt's proposals, by measurement. Unimplemented if it has none.
  static absl::StatusOr<BlasMatmul> Make(CudaTensorContext& context, const BlasProduct& product);

  int64_t workspace_bytes() const { return workspace_bytes_; }

  struct Arguments {
    const void* a = nullptr;
    const void* b = nullptr;
    void* d = nullptr;
    const void* bias = nullptr;  // written where the epilogue has its gradient
    void* workspace = nullptr;   // aligned to kCudaAlignment, the rest to kProductAlignment
  };
  // Queues the product.
  absl::Status Run(const Arguments& arguments) const;

 private:
  // Descriptors, destroyed with the last copy.
  struct Descriptors;

  BlasMatmul() = default;
  absl::Status RunWith(const cublasLtMatmulAlgo_t& algorithm, const Arguments& arguments) const;

  CudaTensorContext* context_ = nullptr;
  std::shared_ptr<Descriptors> descriptors_;
  cublasLtMatmulAlgo_t algorithm_{};
  int64_t workspace_bytes_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_BLAS_MATMUL_H_
