#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/tensor/cuda/cuda_layers.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/library/gpu_libraries.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/memory_plan.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {
namespace {

// A column-major matrix, as in cuBLASLt: a row-major (r, c) matrix becomes a (c, r) matrix here.
struct BlasMatrix {
  ElementType type = ElementType::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
  bool transposed = false;  // whether the product transposes the matrix

  int64_t bytes() const { return rows * columns * BytesOf(type); }
};

struct BlasProduct {
  std::string name;  // begins every error
  BlasMatrix a;
  BlasMatrix b;
  BlasMatrix d;  // = op(a) op(b)
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  ElementType bias = ElementType::kFloat32;  // type of the epilogue's bias, or bias gradient
  int64_t bias_size = 0;                     // 0 if the epilogue has no bias
};

// A matrix product by cuBLASLt, with its epilogue. Thread-compatible.
class BlasMatmul {
 public:
  // Makes the fastest of cuBLASLt's proposals, by measurement. Unimplemented if it has none.
  static absl::StatusOr<BlasMatmul> Make(CudaTensorContext& context, const BlasProduct& product);

  int64_t workspace_bytes() const { return workspace_bytes_; }

  struct Arguments {
    const void* a = nullptr;
    const void* b = nullptr;
    void* d = nullptr;
    const void* bias = nullptr;  // written if the epilogue computes the bias's gradient
    void* workspace = nullptr;   // aligned to kCudaAlignment, the others to kProductAlignment
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

// Returns an arbitrary address with kProductAlignment; the heuristics read the alignment from it.
void* AlignedAddress() { return reinterpret_cast<void*>(kProductAlignment); }

std::string Text(const BlasMatrix& matrix) {
  const TensorFormat format{{matrix.rows, matrix.columns}, Layout::kNhwc, matrix.type};
  return absl::StrCat(ToString(format), matrix.transposed ? " transposed" : "");
}

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
      // Reductions in place are excluded: they add in the order in which blocks arrive.
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
    return result.state != CUBLAS_STATUS_SUCCESS;  // the other fields are then not valid
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

// An inner product. x (n, k), w (o, k) and y (n, o) lie in memory row by row, so that cuBLASLt sees
// their transposes: y^T = w x^T, dx^T = w^T dy^T, dw^T = x^T dy.
class InnerProductLayer : public Layer {
 public:
  InnerProductLayer(CudaTensorContext& context, const InnerProduct& operation,
                    const LayerRequest& request)
      : context_(context),
        operation_(operation),
        input_(request.inputs[0]),
        output_{{input_.shape.n, operation.outputs}, Layout::kNhwc, input_.type},
        output_matrix_{output_.type, output_.shape.n, output_.shape.c},
        weights_{.name = "weights of an inner product",
                 .shape = {operation.outputs, input_.shape.c, input_.shape.h, input_.shape.w},
                 .offset = operation.weight,
                 .type = input_.type,
                 .gradient_type = ElementType::kFloat32},
        bias_{.name = "bias of an inner product",
              .shape = {1, operation.outputs},
              .offset = operation.bias,
              .type = input_.type,
              .gradient_type = ElementType::kFloat32} {}

  absl::Status Plan(const LayerRequest& request) {
    absl::Status status = PlanForward();
    packed_weights_ = kept_.Reserve(weights_.shape.size() * BytesOf(input_.type));
    packed_bias_ = kept_.Reserve(operation_.outputs * BytesOf(input_.type));
    if (status.ok() && request.backward) status = PlanBackward(request);
    RETURN_IF_ERROR(status);
    int64_t workspace = 0;
    for (const std::optional<BlasMatmul>* product :
         {&forward_, &weights_gradient_, &input_gradient_}) {
      if (product->has_value()) workspace = std::max(workspace, (*product)->workspace_bytes());
    }
    workspace_ = scratch_.Reserve(workspace);
    return absl::OkStatus();
  }

  const TensorFormat& output() const override { return output_; }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  int64_t scratch_bytes() const override { return scratch_.bytes(); }
  bool backward_reads_inputs() const override { return true; }
  bool backward_reads_output() const override { return operation_.relu; }
  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    const void* const weights =
        weights_.Pack(context_, replica, At(tensors_.kept, packed_weights_));
    const void* bias = nullptr;
    if (has_bias()) bias = bias_.Pack(context_, replica, At(tensors_.kept, packed_bias_));
    context_.Note(forward_->Run({.a = weights,
                                 .b = tensors_.inputs[0],
                                 .d = tensors_.output,
                                 .bias = bias,
                                 .workspace = At(tensors_.scratch, workspace_)}));
    const void* const missing_bias = fused_forward_ ? nullptr : bias;
    AddBiasAndRelu(context_, output_, missing_bias, operation_.relu, tensors_.output);
  }

  void Backward(const float* replica, float* gradient) override {
    const void* const dy = GradientPastRelu(context_, tensors_, operation_.relu, output_);
    const LossScaled& scaled = context_.loss_scaled();
    void* const packed = At(tensors_.scratch, packed_gradient_);
    void* const packed_bias = At(tensors_.scratch, bias_gradient_);
    const void* bias = nullptr;
    if (has_bias()) bias = bias_.GradientMemory(scaled, gradient, packed_bias);
    context_.Note(weights_gradient_->Run({.a = tensors_.inputs[0],
                                          .b = dy,
                                          .d = weights_.GradientMemory(scaled, gradient, packed),
                                          .bias = bias,
                                          .workspace = At(tensors_.scratch, workspace_)}));
    weights_.UnpackGradient(context_, gradient, packed);
    if (has_bias()) WriteBiasGradient(dy, gradient, packed_bias);
    if (tensors_.input_gradients[0] == nullptr) return;
    context_.Note(
        input_gradient_->Run({.a = weights_.Memory(replica, At(tensors_.kept, packed_weights_)),
                              .b = dy,
                              .d = tensors_.input_gradients[0],
                              .workspace = At(tensors_.scratch, workspace_)}));
  }

 private:
  bool has_bias() const { return operation_.bias != kNoOffset; }

  BlasMatrix Weights() const {
    return {input_.type, weights_.shape.size() / weights_.shape.n, operation_.outputs};
  }
  BlasMatrix Input() const {
    return {input_.type, weights_.shape.size() / weights_.shape.n, input_.shape.n};
  }
  BlasMatrix Output() const { return {output_.type, operation_.outputs, input_.shape.n}; }

  std::string Name(std::string_view pass) const {
    return absl::StrCat("inner product of ", ToString(input_), " to ", operation_.outputs, ", ",
                        std::string(pass));
  }

  // Makes the product with the epilogue or, if cuBLASLt has no algorithm for it, without.
  absl::Status Take(BlasProduct product, cublasLtEpilogue_t epilogue,
                    std::optional<BlasMatmul>* taken, bool* fused) {
    const std::string name = product.name;
    const int64_t bias_size = product.bias_size;
    for (const bool attempt : {true, false}) {
      product.epilogue = attempt ? epilogue : CUBLASLT_EPILOGUE_DEFAULT;
      product.bias_size = attempt ? bias_size : 0;
      product.name = absl::StrCat(name, attempt ? absl::StrCat(", epilogue ", epilogue) : "");
      absl::StatusOr<BlasMatmul> made = BlasMatmul::Make(context_, product);
      if (!made.ok() && attempt && epilogue != CUBLASLT_EPILOGUE_DEFAULT) continue;
      if (!made.ok()) return made.status();
      *taken = *std::move(made);
      *fused = attempt;
      break;
    }
    return absl::OkStatus();
  }

  absl::Status PlanForward() {
    // cuBLASLt's ReLU may drop a NaN. Our own ReLU runs after the product.
    const cublasLtEpilogue_t epilogue =
        has_bias() ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    BlasMatrix weights = Weights();
    weights.transposed = true;
    return Take({.name = Name("forward"),
                 .a = weights,
                 .b = Input(),
                 .d = Output(),
                 .bias = output_.type,
                 .bias_size = has_bias() ? operation_.outputs : 0},
                epilogue, &forward_, &fused_forward_);
  }

  // The gradient of the weights is summed and written in fp32.
  absl::Status PlanBackward(const LayerRequest& request) {
    packed_gradient_ = scratch_.Reserve(weights_.shape.size() * BytesOf(ElementType::kFloat32));
    bias_gradient_ = scratch_.Reserve(operation_.outputs * BytesOf(ElementType::kFloat32));
    partial_sums_ = scratch_.Reserve(PartialSumBytes(output_matrix_));
    BlasMatrix dy = Output();
    dy.transposed = true;
    BlasMatrix dw = Weights();
    dw.type = ElementType::kFloat32;
    absl::Status status = Take({.name = Name("gradient of the weights"),
                                .a = Input(),
                                .b = dy,
                                .d = dw,
                                .bias = ElementType::kFloat32,
                                .bias_size = has_bias() ? operation_.outputs : 0},
                               has_bias() ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_DEFAULT,
                               &weights_gradient_, &fused_bias_gradient_);
    if (!status.ok() || !request.wants_gradient[0]) return status;
    bool fused = false;
    return Take(
        {.name = Name("gradient of the input"), .a = Weights(), .b = Output(), .d = Input()},
        CUBLASLT_EPILOGUE_DEFAULT, &input_gradient_, &fused);
  }

  void WriteBiasGradient(const void* dy, float* gradient, void* packed) {
    if (fused_bias_gradient_) {
      bias_.UnpackGradient(context_, gradient, packed);
      return;
    }
    auto* const partial = reinterpret_cast<float*>(At(tensors_.scratch, partial_sums_));
    context_.Note(CudaBiasGradient(output_matrix_, dy, context_.loss_scaled(),
                                   gradient + operation_.bias, partial, context_.stream()),
                  "gradient of an inner product's bias");
  }

  CudaTensorContext& context_;
  const InnerProduct operation_;
  const TensorFormat input_;
  const TensorFormat output_;
  const ChannelMatrix output_matrix_;
  const ProductParameters weights_;
  const ProductParameters bias_;
  bool fused_forward_ = false;
  bool fused_bias_gradient_ = false;
  std::optional<BlasMatmul> forward_;
  std::optional<BlasMatmul> weights_gradient_;
  std::optional<BlasMatmul> input_gradient_;
  RegionPlan kept_{kCudaAlignment};
  int64_t packed_weights_ = 0;  // offsets in their regions
  int64_t packed_bias_ = 0;
  RegionPlan scratch_{kCudaAlignment};
  int64_t packed_gradient_ = 0;
  int64_t bias_gradient_ = 0;
  int64_t partial_sums_ = 0;
  int64_t workspace_ = 0;
  LayerTensors tensors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaInnerProductLayer(CudaTensorContext& context,
                                                                 const InnerProduct& operation,
                                                                 const LayerRequest& request) {
  auto layer = std::make_unique<InnerProductLayer>(context, operation, request);
  RETURN_IF_ERROR(layer->Plan(request));
  return layer;
}

}  // namespace grapevine
