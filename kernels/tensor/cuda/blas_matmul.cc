#include "kernels/tensor/cuda/blas_matmul.h"

#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/tensor/cuda/library/gpu_libraries.h"

namespace grapevine {
namespace {

cudaDataType_t BlasType(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return CUDA_R_32F;
    case ElementType::kBFloat16:
      return CUDA_R_16BF;
    case ElementType::kFloat16:
      return CUDA_R_16F;
  }
  return CUDA_R_32F;
}

absl::Status BlasStatus(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const absl::StatusCode code = status == CUBLAS_STATUS_NOT_SUPPORTED
                                    ? absl::StatusCode::kUnimplemented
                                    : absl::StatusCode::kInternal;
  return absl::Status(code, absl::StrCat(what, ": ", Blas().get_status_name(status), ": ",
                                         Blas().get_status_string(status)));
}

// Any address: heuristics read the alignment from it.
void* AlignedAddress() { return reinterpret_cast<void*>(kProductAlignment); }

std::string Text(const BlasMatrix& matrix) {
  const TensorFormat format{{matrix.rows, matrix.columns}, Layout::kNhwc, matrix.type};
  return absl::StrCat(ToString(format), matrix.transposed ? " transposed" : "");
}

}  // namespace

struct BlasMatmul::Descriptors {
  explicit Descriptors(const BlasProduct& of) : product(of) {}
  ~Descriptors() {
    if (preference != nullptr) Blas().destroy_preference(preference);
    for (cublasLtMatrixLayout_t layout : {a, b, d}) {
      if (layout != nullptr) Blas().destroy_layout(layout);
    }
    if (operation != nullptr) Blas().destroy_operation(operation);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  absl::Status Make(const CudaTensorOptions& options) {
    const bool fp32 = product.a.type == ElementType::kFloat32;
    Note(Blas().create_operation(
        &operation, fp32 && options.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
        CUDA_R_32F));
    RETURN_IF_ERROR(status);
    Set(CUBLASLT_MATMUL_DESC_TRANSA, product.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    Set(CUBLASLT_MATMUL_DESC_TRANSB, product.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    Set(CUBLASLT_MATMUL_DESC_EPILOGUE, product.epilogue);
    if (product.bias_size > 0) {
      Set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(BlasType(product.bias)));
      SetBias(AlignedAddress());
    }
    MakeLayout(product.a, &a);
    MakeLayout(product.b, &b);
    MakeLayout(product.d, &d);
    Note(Blas().create_preference(&preference));
    RETURN_IF_ERROR(status);
    const auto most = static_cast<uint64_t>(options.most_workspace_bytes);
    Prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most);
    const auto alignment = static_cast<uint32_t>(kProductAlignment);
    for (const auto matrix :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      Prefer(matrix, alignment);
    }
    if (options.deterministic) {
      // Not in place: whoever comes first adds first.
      const uint32_t schemes =
          CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
      Prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
    }
    return status;
  }

  void SetBias(const void* bias) { Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias); }

  const BlasProduct product;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr;
  cublasLtMatrixLayout_t b = nullptr;
  cublasLtMatrixLayout_t d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  absl::Status status;

 private:
  void Note(cublasStatus_t made) {
    if (status.ok()) status = BlasStatus(made, product.name);
  }
  template <typename Value>
  void Set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    Note(Blas().set_operation_attribute(operation, attribute, &value, sizeof(value)));
  }
  template <typename Value>
  void Prefer(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    Note(Blas().set_preference_attribute(preference, attribute, &value, sizeof(value)));
  }
  void MakeLayout(const BlasMatrix& matrix, cublasLtMatrixLayout_t* layout) {
    Note(Blas().create_layout(layout, BlasType(matrix.type), static_cast<uint64_t>(matrix.rows),
                              static_cast<uint64_t>(matrix.columns), matrix.rows));
  }
};

absl::StatusOr<BlasMatmul> BlasMatmul::Make(CudaTensorContext& context,
                                            const BlasProduct& product) {
  BlasMatmul matmul;
  matmul.context_ = &context;
  matmul.descriptors_ = std::make_shared<Descriptors>(product);
  const Descriptors& d = *matmul.descriptors_;
  RETURN_IF_ERROR(matmul.descriptors_->Make(context.options()));
  std::vector<cublasLtMatmulHeuristicResult_t> found(context.options().plans_to_measure);
  int count = 0;
  RETURN_IF_ERROR(BlasStatus(
      Blas().find_algorithms(context.blas(), d.operation, d.a, d.b, d.d, d.d, d.preference,
                             static_cast<int>(found.size()), found.data(), &count),
      product.name));
  found.resize(count);
  std::erase_if(found, [](const cublasLtMatmulHeuristicResult_t& result) {
    return result.state != CUBLAS_STATUS_SUCCESS;  // its other fields say nothing
  });
  if (found.empty()) {
    return absl::UnimplementedError(absl::StrCat(product.name, ": cuBLASLt has no algorithm"));
  }
  CudaTensorContext::Candidates candidates{
      .key = absl::StrCat(product.name, " (", Text(product.a), " by ", Text(product.b), " to ",
                          Text(product.d), ")", context.Conditions()),
      .argument_bytes = {product.a.bytes(), product.b.bytes(), product.d.bytes(),
                         product.bias_size * BytesOf(product.bias)}};
  for (const cublasLtMatmulHeuristicResult_t& result : found) {
    candidates.workspace_bytes.push_back(static_cast<int64_t>(result.workspaceSize));
  }
  candidates.run = [&](size_t index, std::span<void* const> memory) {
    matmul.workspace_bytes_ = candidates.workspace_bytes[index];
    return matmul.RunWith(found[index].algo, {.a = memory[0],
                                              .b = memory[1],
                                              .d = memory[2],
                                              .bias = memory[3],
                                              .workspace = memory[4]});
  };
  ASSIGN_OR_RETURN(const size_t fastest, context.Fastest(candidates));
  matmul.algorithm_ = found[fastest].algo;
  matmul.workspace_bytes_ = candidates.workspace_bytes[fastest];
  return matmul;
}

absl::Status BlasMatmul::Run(const Arguments& arguments) const {
  return RunWith(algorithm_, arguments);
}

absl::Status BlasMatmul::RunWith(const cublasLtMatmulAlgo_t& algorithm,
                                 const Arguments& arguments) const {
  Descriptors& d = *descriptors_;
  if (d.product.bias_size > 0) d.SetBias(arguments.bias);
  RETURN_IF_ERROR(d.status);
  const float one = 1;
  const float zero = 0;
  return BlasStatus(
      Blas().matmul(context_->blas(), d.operation, &one, arguments.a, d.a, arguments.b, d.b, &zero,
                    arguments.d, d.d, arguments.d, d.d, &algorithm, arguments.workspace,
                    static_cast<size_t>(workspace_bytes_), context_->stream()),
      d.product.name);
}

}  // namespace grapevine
