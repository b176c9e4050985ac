#include "kernels/tensor/cuda/library/cudnn_graph.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/tensor/cuda/library/gpu_libraries.h"

namespace grapevine {
namespace {

constexpr int64_t kTensorAlignment = 16;  // bytes; the alignment of every pointer given to a plan
// More configurations than the heuristics have been seen to propose (37). A small limit would lose
// plans: in fp32 without tensor cores, the allowed configurations come last.
constexpr int64_t kMaxConfigurations = 64;

std::vector<int64_t> Dimensions(const TensorShape& s) { return {s.n, s.c, s.h, s.w}; }
std::vector<int64_t> NhwcStrides(const TensorShape& s) {
  return {s.c * s.area(), 1, s.w * s.c, s.c};
}

// Returns the descriptors that `owner` gives out under `name`, at most `most`.
absl::StatusOr<std::vector<CudnnDescriptor>> Children(const CudnnDescriptor& owner,
                                                      cudnnBackendAttributeName_t name,
                                                      cudnnBackendDescriptorType_t type,
                                                      int64_t most) {
  std::vector<CudnnDescriptor> children;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < most; ++i) {
    children.emplace_back(type);
    raw.push_back(children.back().get());
  }
  int64_t count = 0;
  RETURN_IF_ERROR(
      CudnnStatus(Cudnn().get_attribute(owner.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most,
                                        &count, raw.data()),
                  "engine configurations"));
  children.resize(std::min(count, most));
  return children;
}

struct Notes {
  std::vector<cudnnBackendNumericalNote_t> numerical;
  int64_t engine = -1;

  bool Has(cudnnBackendNumericalNote_t note) const {
    return std::find(numerical.begin(), numerical.end(), note) != numerical.end();
  }
};

absl::StatusOr<Notes> NotesOf(const CudnnDescriptor& configuration) {
  ASSIGN_OR_RETURN(auto engines, Children(configuration, CUDNN_ATTR_ENGINECFG_ENGINE,
                                          CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1));
  if (engines.empty()) return absl::InternalError("a configuration without an engine");
  const cudnnBackendDescriptor_t engine = engines[0].get();
  Notes notes;
  notes.numerical.resize(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  int64_t count = 0;
  RETURN_IF_ERROR(CudnnStatus(
      Cudnn().get_attribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                            CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.numerical.data()),
      "numerical notes"));
  notes.numerical.resize(count);
  RETURN_IF_ERROR(CudnnStatus(Cudnn().get_attribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                                    CUDNN_TYPE_INT64, 1, &count, &notes.engine),
                              "engine index"));
  return notes;
}

bool Allowed(const Notes& notes, const CudnnEngineRules& rules, bool fp32) {
  if (rules.deterministic && notes.Has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return false;
  if (!fp32 || rules.tensor_cores_for_fp32) return true;
  return !notes.Has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) &&
         !notes.Has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
}

}  // namespace

absl::Status CudnnStatus(cudnnStatus_t status, std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  std::array<char, 1024> words{};
  Cudnn().get_last_error_string(words.data(), words.size());
  return absl::InternalError(absl::StrCat(std::string(what), ": ", Cudnn().get_error_string(status),
                                          words[0] == '\0' ? "" : ": ", words.data()));
}

cudnnDataType_t CudnnType(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return CUDNN_DATA_FLOAT;
    case ElementType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case ElementType::kFloat16:
      return CUDNN_DATA_HALF;
  }
  return CUDNN_DATA_FLOAT;
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  if (Cudnn().create_descriptor(type, &made) != CUDNN_STATUS_SUCCESS) return;
  descriptor_ = std::shared_ptr<void>(
      made, [](cudnnBackendDescriptor_t held) { Cudnn().destroy_descriptor(held); });
}

cudnnStatus_t CudnnDescriptor::Set(cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, int64_t count,
                                   const void* values) {
  return Cudnn().set_attribute(get(), name, type, count, values);
}

cudnnStatus_t CudnnDescriptor::Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  const cudnnBackendDescriptor_t raw = value.get();
  return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
}

cudnnStatus_t CudnnDescriptor::Set(cudnnBackendAttributeName_t name,
                                   std::span<const int64_t> values) {
  return Set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
}

cudnnStatus_t CudnnDescriptor::Finalize() { return Cudnn().finalize(get()); }

absl::StatusOr<CudnnTarget> CudnnTarget::Described(std::string_view json) {
  RETURN_IF_ERROR(LoadCudnn());
  CudnnTarget target;
  target.device_ = CudnnDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  std::string text(json);
  RETURN_IF_ERROR(
      CudnnStatus(target.device_.Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                     static_cast<int64_t>(text.size()) + 1, text.c_str()),
                  "a described GPU"));
  RETURN_IF_ERROR(CudnnStatus(target.device_.Finalize(), "a described GPU"));
  return target;
}

absl::Status CudnnCall::Run(cudnnHandle_t handle) const {
  const cudnnStatus_t status = Cudnn().execute(handle, plan_.get(), arguments_.get());
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  return CudnnStatus(status, name_);
}

absl::StatusOr<CudnnCall> CudnnPlan::Bind(std::span<const Argument> arguments,
                                          void* workspace) const {
  std::vector<int64_t> ids;
  std::vector<const void*> memory;
  for (const Argument& argument : arguments) {
    ids.push_back(argument.id);
    memory.push_back(argument.memory);
  }
  CudnnCall call;
  call.name_ = name_;
  call.plan_ = plan_;
  call.arguments_ = CudnnDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  CudnnDescriptor& pack = call.arguments_;
  const auto count = static_cast<int64_t>(ids.size());
  cudnnStatus_t status = pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  if (status == CUDNN_STATUS_SUCCESS) {
    status =
        pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, memory.data());
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  }
  if (status == CUDNN_STATUS_SUCCESS) status = pack.Finalize();
  if (status != CUDNN_STATUS_SUCCESS) {
    return CudnnStatus(status, absl::StrCat(name_, ": arguments"));
  }
  return call;
}

void CudnnGraph::Note(cudnnStatus_t status, std::string_view step) {
  if (status == CUDNN_STATUS_SUCCESS || !status_.ok()) return;
  status_ = CudnnStatus(status, absl::StrCat(name_, ": ", std::string(step)));
}

CudnnDescriptor CudnnGraph::Tensor(const CudnnTensor& tensor) {
  for (const auto& [id, known] : tensors_) {
    if (id == tensor.id) return known;
  }
  CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t type = CudnnType(tensor.format.type);
  const std::array id = {tensor.id};
  const std::array alignment = {kTensorAlignment};
  const std::string step = absl::StrCat("tensor ", ToString(tensor.format));
  Note(made.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type), step);
  Note(made.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, Dimensions(tensor.format.shape)), step);
  Note(made.Set(CUDNN_ATTR_TENSOR_STRIDES, NhwcStrides(tensor.format.shape)), step);
  Note(made.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id), step);
  Note(made.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment), step);
  Note(made.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &tensor.within), step);
  Note(made.Finalize(), step);
  tensors_.emplace_back(tensor.id, made);
  if (!tensor.within) arguments_.push_back(tensor);
  return made;
}

void CudnnGraph::Convolution(Pass pass, const CudnnWindow& window, const CudnnTensor& x,
                             const CudnnTensor& w, const CudnnTensor& y) {
  struct Names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
  };
  static constexpr Names kNames[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
  };
  const Names& names = kNames[static_cast<int>(pass)];
  fp32_ = x.format.type == ElementType::kFloat32;
  constexpr std::string_view kStep = "convolution";

  CudnnDescriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t accumulation = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const std::array<int64_t, 1> dimensions = {2};
  const std::array<int64_t, 2> strides = {window.stride, window.stride};
  const std::array<int64_t, 2> padding = {window.padding, window.padding};
  const std::array<int64_t, 2> dilation = {1, 1};
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &accumulation),
       kStep);
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode),
       kStep);
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, dimensions), kStep);
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, strides), kStep);
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding), kStep);
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding), kStep);
  Note(convolution.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation), kStep);
  Note(convolution.Finalize(), kStep);

  const float one = 1;
  const float zero = 0;
  CudnnDescriptor operation(names.type);
  Note(operation.Set(names.convolution, convolution), kStep);
  Note(operation.Set(names.x, Tensor(x)), kStep);
  Note(operation.Set(names.w, Tensor(w)), kStep);
  Note(operation.Set(names.y, Tensor(y)), kStep);
  Note(operation.Set(names.alpha, CUDNN_TYPE_FLOAT, 1, &one), kStep);
  Note(operation.Set(names.beta, CUDNN_TYPE_FLOAT, 1, &zero), kStep);
  Note(operation.Finalize(), kStep);
  operations_.push_back(operation);
}

void CudnnGraph::Add(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& y) {
  Pointwise(CUDNN_POINTWISE_ADD, a, &b, y);
}

void CudnnGraph::Relu(const CudnnTensor& x, const CudnnTensor& y) {
  Pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y);
}

void CudnnGraph::Pointwise(cudnnPointwiseMode_t mode, const CudnnTensor& x, const CudnnTensor* b,
                           const CudnnTensor& y) {
  constexpr std::string_view kStep = "element-wise operation";
  CudnnDescriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  const cudnnDataType_t precision = CUDNN_DATA_FLOAT;
  const cudnnNanPropagation_t nan = CUDNN_PROPAGATE_NAN;
  Note(pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode), kStep);
  Note(pointwise.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &precision), kStep);
  if (mode == CUDNN_POINTWISE_RELU_FWD) {
    Note(pointwise.Set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, &nan),
         kStep);
  }
  Note(pointwise.Finalize(), kStep);

  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  Note(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise), kStep);
  Note(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, Tensor(x)), kStep);
  if (b != nullptr) {
    Note(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, Tensor(*b)), kStep);
  }
  Note(operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, Tensor(y)), kStep);
  Note(operation.Finalize(), kStep);
  operations_.push_back(operation);
}

absl::StatusOr<CudnnDescriptor> CudnnGraph::Operations(const CudnnTarget& target) {
  RETURN_IF_ERROR(status_);
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const CudnnDescriptor& operation : operations_) raw.push_back(operation.get());
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  Note(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 static_cast<int64_t>(raw.size()), raw.data()),
       "graph");
  if (const cudnnHandle_t handle = target.handle(); handle != nullptr) {
    Note(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle), "graph");
  }
  Note(graph.Finalize(), "graph");
  RETURN_IF_ERROR(status_);
  return graph;
}

absl::StatusOr<std::vector<CudnnDescriptor>> CudnnGraph::Configurations(
    const CudnnDescriptor& operations, cudnnBackendHeurMode_t mode, const CudnnTarget& target) {
  CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  cudnnStatus_t status = heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = heuristics.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  }
  if (status == CUDNN_STATUS_SUCCESS && target.handle() == nullptr) {
    status = heuristics.Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, target.device());
  }
  if (status == CUDNN_STATUS_SUCCESS) status = heuristics.Finalize();
  if (status != CUDNN_STATUS_SUCCESS) {
    return CudnnStatus(status, absl::StrCat(name_, ": engines"));
  }
  return Children(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                  kMaxConfigurations);
}

absl::StatusOr<CudnnPlan> CudnnGraph::Plan(const CudnnDescriptor& configuration,
                                           const CudnnTarget& target) {
  CudnnPlan plan;
  plan.name_ = name_;
  plan.plan_ = CudnnDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  cudnnStatus_t status = plan.plan_.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (status == CUDNN_STATUS_SUCCESS) {
    const cudnnHandle_t handle = target.handle();
    status = handle == nullptr
                 ? plan.plan_.Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, target.device())
                 : plan.plan_.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  }
  if (status == CUDNN_STATUS_SUCCESS) status = plan.plan_.Finalize();
  int64_t count = 0;
  if (status == CUDNN_STATUS_SUCCESS) {
    status = Cudnn().get_attribute(plan.plan_.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                   CUDNN_TYPE_INT64, 1, &count, &plan.workspace_bytes_);
  }
  if (status != CUDNN_STATUS_SUCCESS) return CudnnStatus(status, absl::StrCat(name_, ": plan"));
  return plan;
}

absl::StatusOr<std::vector<CudnnPlan>> CudnnGraph::Plans(const CudnnTarget& target,
                                                         const CudnnEngineRules& rules, int most) {
  ASSIGN_OR_RETURN(const CudnnDescriptor operations, Operations(target));
  std::vector<CudnnPlan> plans;
  absl::Status why = absl::InternalError(absl::StrCat(name_, ": cuDNN has no engine that may run"));
  // The fallback's configurations are slow more often than not, and serve graphs with few others.
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (static_cast<int>(plans.size()) == most) break;
    const auto configurations = Configurations(operations, mode, target);
    if (!configurations.ok()) {
      why = configurations.status();
      continue;
    }
    for (const CudnnDescriptor& configuration : *configurations) {
      if (static_cast<int>(plans.size()) == most) break;
      const absl::StatusOr<Notes> notes = NotesOf(configuration);
      if (!notes.ok()) {
        why = notes.status();
        continue;
      }
      if (!Allowed(*notes, rules, fp32_)) continue;
      absl::StatusOr<CudnnPlan> plan = Plan(configuration, target);
      if (!plan.ok()) {
        why = plan.status();
        continue;
      }
      absl::StrAppend(&plan->name_, " by engine ", notes->engine);
      plans.push_back(*std::move(plan));
    }
  }
  if (plans.empty()) return why;
  return plans;
}

ConvolutionGraphs::ConvolutionGraphs(const Convolution& operation, const TensorFormat& input)
    : operation_(operation), input_(input), output_(input), weights_(input) {
  const auto extent = [&](int64_t size) {
    return (size + 2 * operation.padding - operation.kernel) / operation.stride + 1;
  };
  const TensorShape& x = input.shape;
  output_.shape = {x.n, operation.outputs, extent(x.h), extent(x.w)};
  weights_.shape = {operation.outputs, x.c, operation.kernel, operation.kernel};
}

std::string ConvolutionGraphs::Name(std::string_view pass) const {
  return absl::StrCat("convolution of ", ToString(input_), " to ", operation_.outputs,
                      " channels, kernel ", operation_.kernel, ", stride ", operation_.stride,
                      ", padding ", operation_.padding, ", ", std::string(pass));
}

CudnnGraph ConvolutionGraphs::Product(CudnnGraph::Pass pass) const {
  static constexpr std::string_view kNames[] = {"forward", "gradient of the input",
                                                "gradient of the weights"};
  CudnnGraph graph(Name(kNames[static_cast<int>(pass)]));
  graph.Convolution(pass, {operation_.stride, operation_.padding}, {kInput, input_},
                    {kWeights, weights_}, {kOutput, output_});
  return graph;
}

CudnnGraph ConvolutionGraphs::Fused() const {
  const bool bias = operation_.bias != kNoOffset;
  CudnnGraph graph(
      Name(absl::StrCat("forward", bias ? " with bias" : "", operation_.relu ? " and ReLU" : "")));
  TensorFormat within = output_;
  within.type = ElementType::kFloat32;
  int64_t id = kBias + 1;
  const auto next = [&](bool last) {
    return last ? CudnnTensor{kOutput, output_} : CudnnTensor{id++, within, true};
  };
  CudnnTensor y = next(!bias && !operation_.relu);
  graph.Convolution(CudnnGraph::Pass::kForward, {operation_.stride, operation_.padding},
                    {kInput, input_}, {kWeights, weights_}, y);
  if (bias) {
    TensorFormat format = output_;
    format.shape = {1, operation_.outputs, 1, 1};
    const CudnnTensor product = y;
    y = next(!operation_.relu);
    graph.Add(product, {kBias, format}, y);
  }
  if (operation_.relu) graph.Relu(y, next(true));
  return graph;
}

}  // namespace grapevine
