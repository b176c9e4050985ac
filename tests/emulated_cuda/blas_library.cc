// cuBLASLt on the CPU: the products and epilogues of
// kernels/tensor/cuda/cuda_inner_product_layer.cc, linked in place of
// kernels/tensor/cuda/library/blas_library.cc. Part of the emulation of CUDA (README.md).
//
// There are two algorithms, of which one spoils its workspace; epilogues with a bias have
// none where the bias is of an odd size, so that what is done then is tested too. Aliased
// or misaligned memory is an error.
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "kernels/tensor/cuda/library/gpu_libraries.h"
#include "tests/emulated_cuda/numbers.h"
#include "tests/emulated_cuda/runtime.h"

namespace grapevine {
namespace {

using emulated_cuda::IsOperand;
using emulated_cuda::Read;
using emulated_cuda::Write;

constexpr size_t kWorkspace[] = {0, 4096};  // of an algorithm

// The descriptors' types belong to cuBLASLt: what is behind the pointers is ours.
struct Operation {
  cublasComputeType_t compute;
  cublasOperation_t a = CUBLAS_OP_N;
  cublasOperation_t b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cudaDataType_t bias_type = CUDA_R_32F;
  void* bias = nullptr;
};
struct Matrix {
  cudaDataType_t type;
  size_t rows;
  size_t columns;
};
struct Preference {
  uint64_t workspace = 0;
};

const Operation& Of(cublasLtMatmulDesc_t d) { return *reinterpret_cast<const Operation*>(d); }
const Matrix& Of(cublasLtMatrixLayout_t d) { return *reinterpret_cast<const Matrix*>(d); }

size_t GetVersion() { return CUBLAS_VER_MAJOR * 10000; }
const char* GetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS"
                                         : "an error of emulated cuBLASLt";
}

cublasStatus_t Create(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new char);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t Destroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CreateOperation(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                               cudaDataType_t scale) {
  if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{.compute = compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t DestroyOperation(cublasLtMatmulDesc_t operation) {
  delete reinterpret_cast<Operation*>(operation);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t SetOperation(cublasLtMatmulDesc_t descriptor, cublasLtMatmulDescAttributes_t name,
                            const void* value, size_t bytes) {
  auto& operation = *reinterpret_cast<Operation*>(descriptor);
  const auto set = [&](auto* field) {
    if (bytes != sizeof(*field)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(&operation.a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(&operation.b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(&operation.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return set(&operation.bias_type);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(&operation.bias);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t CreateLayout(cublasLtMatrixLayout_t* made, cudaDataType_t type, uint64_t rows,
                            uint64_t columns, int64_t leading) {
  if (leading != static_cast<int64_t>(rows)) return CUBLAS_STATUS_NOT_SUPPORTED;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Matrix{type, rows, columns});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t DestroyLayout(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Matrix*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CreatePreference(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t DestroyPreference(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<Preference*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetPreference(cublasLtMatmulPreference_t preference,
                             cublasLtMatmulPreferenceAttributes_t name, const void* value,
                             size_t bytes) {
  if (name != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_SUCCESS;
  if (bytes != sizeof(uint64_t)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&reinterpret_cast<Preference*>(preference)->workspace, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

// d (m, n) = op(a) (m, k) op(b) (k, n), columns first.
struct Extents {
  size_t m, n, k;
};
bool FindExtents(const Operation& operation, const Matrix& a, const Matrix& b, const Matrix& d,
                 Extents* extents) {
  const bool ta = operation.a == CUBLAS_OP_T;
  const bool tb = operation.b == CUBLAS_OP_T;
  *extents = {ta ? a.columns : a.rows, tb ? b.rows : b.columns, ta ? a.rows : a.columns};
  return extents->k == (tb ? b.columns : b.rows) && d.rows == extents->m &&
         d.columns == extents->n && a.type == b.type;
}

bool AddsBias(cublasLtEpilogue_t e) {
  return e == CUBLASLT_EPILOGUE_BIAS || e == CUBLASLT_EPILOGUE_RELU_BIAS;
}
bool HasRelu(cublasLtEpilogue_t e) {
  return e == CUBLASLT_EPILOGUE_RELU || e == CUBLASLT_EPILOGUE_RELU_BIAS;
}

cublasStatus_t FindAlgorithms(cublasLtHandle_t, cublasLtMatmulDesc_t operation_descriptor,
                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                              cublasLtMatmulPreference_t preference, int wanted,
                              cublasLtMatmulHeuristicResult_t* found, int* count) {
  const Operation& operation = Of(operation_descriptor);
  const uint64_t most = reinterpret_cast<const Preference*>(preference)->workspace;
  *count = 0;
  Extents extents;
  if (!FindExtents(operation, Of(a), Of(b), Of(d), &extents)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool bias_gradient = operation.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (bias_gradient || AddsBias(operation.epilogue)) {
    if (operation.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if ((bias_gradient ? extents.n : extents.m) % 2 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  for (uint64_t i = 0; i < std::size(kWorkspace) && *count < wanted; ++i) {
    if (kWorkspace[i] > most) continue;
    cublasLtMatmulHeuristicResult_t& result = found[(*count)++];
    result = {.workspaceSize = kWorkspace[i], .state = CUBLAS_STATUS_SUCCESS};
    result.algo.data[0] = i;
  }
  return CUBLAS_STATUS_SUCCESS;
}

struct Product {
  Operation operation;
  Matrix a, b, d;
  Extents extents;
  const void* a_memory;
  const void* b_memory;
  void* d_memory;
  void* workspace;
  size_t workspace_bytes;

  void Run() const {
    const auto [m, n, k] = extents;
    std::vector<float> left = Read(a.type, a_memory, m * k);
    std::vector<float> right = Read(b.type, b_memory, k * n);
    std::vector<float> bias(AddsBias(operation.epilogue) ? m : 0);
    if (!bias.empty()) bias = Read(operation.bias_type, operation.bias, m);
    std::memset(workspace, 0xff, workspace_bytes);
    if (operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
      emulated_cuda::RoundToTf32(&left);
      emulated_cuda::RoundToTf32(&right);
    }
    // Both with the k factors of a sum beside each other.
    if (operation.a != CUBLAS_OP_T) left = Transposed(left, m, k);
    if (operation.b == CUBLAS_OP_T) right = Transposed(right, n, k);
    std::vector<float> result(m * n);
    for (size_t j = 0; j < n; ++j) {
      for (size_t i = 0; i < m; ++i) {
        float sum = 0;
        for (size_t l = 0; l < k; ++l) sum += left[i * k + l] * right[j * k + l];
        if (!bias.empty()) sum += bias[i];
        if (HasRelu(operation.epilogue) && sum < 0) sum = 0;
        result[j * m + i] = sum;
      }
    }
    Write(result, d.type, d_memory);
    if (operation.epilogue == CUBLASLT_EPILOGUE_BGRADB) WriteBiasGradient(right);
  }

 private:
  // (rows, columns), columns first, to rows first.
  static std::vector<float> Transposed(const std::vector<float>& from, size_t rows,
                                       size_t columns) {
    std::vector<float> to(from.size());
    for (size_t j = 0; j < columns; ++j) {
      for (size_t i = 0; i < rows; ++i) to[i * columns + j] = from[j * rows + i];
    }
    return to;
  }

  // The sums of op(b)'s columns.
  void WriteBiasGradient(const std::vector<float>& right) const {
    std::vector<float> sums(extents.n);
    for (size_t j = 0; j < extents.n; ++j) {
      for (size_t l = 0; l < extents.k; ++l) sums[j] += right[j * extents.k + l];
    }
    Write(sums, operation.bias_type, operation.bias);
  }
};

bool IsMatrix(const Matrix& matrix, const void* memory) {
  return IsOperand(matrix.type, memory, matrix.rows * matrix.columns);
}

cublasStatus_t Matmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                      const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                      cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                      cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                      const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                      size_t workspace_bytes, cudaStream_t stream) {
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  Product product{.operation = Of(operation),
                  .a = Of(a_layout),
                  .b = Of(b_layout),
                  .d = Of(d_layout),
                  .a_memory = a,
                  .b_memory = b,
                  .d_memory = d,
                  .workspace = workspace,
                  .workspace_bytes = kWorkspace[algorithm->data[0]]};
  const Operation& o = product.operation;
  if (!FindExtents(o, product.a, product.b, product.d, &product.extents) ||
      !IsMatrix(product.a, a) || !IsMatrix(product.b, b) || !IsMatrix(product.d, d) || a == d ||
      b == d || workspace_bytes < product.workspace_bytes ||
      (product.workspace_bytes > 0 && !emulated_cuda::Reaches(workspace, workspace_bytes))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if ((AddsBias(o.epilogue) && !IsOperand(o.bias_type, o.bias, product.extents.m)) ||
      (o.epilogue == CUBLASLT_EPILOGUE_BGRADB &&
       !IsOperand(o.bias_type, o.bias, product.extents.n))) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cudaError_t queued = emulated_cuda::Queue(stream, [product] { product.Run(); });
  return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

absl::Status LoadBlas() { return absl::OkStatus(); }

const BlasLibrary& Blas() {
  static const BlasLibrary library = {.get_version = GetVersion,
                                      .get_status_name = GetStatusName,
                                      .get_status_string = GetStatusName,
                                      .create = Create,
                                      .destroy = Destroy,
                                      .create_operation = CreateOperation,
                                      .destroy_operation = DestroyOperation,
                                      .set_operation_attribute = SetOperation,
                                      .create_layout = CreateLayout,
                                      .destroy_layout = DestroyLayout,
                                      .create_preference = CreatePreference,
                                      .destroy_preference = DestroyPreference,
                                      .set_preference_attribute = SetPreference,
                                      .find_algorithms = FindAlgorithms,
                                      .matmul = Matmul};
  return library;
}

}  // namespace grapevine
