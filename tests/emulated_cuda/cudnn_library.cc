// cuDNN's graph API on the CPU: the graphs of kernels/tensor/cuda/library/cudnn_graph.cc, linked in
// place of kernels/tensor/cuda/library/cudnn_library.cc. Part of the emulation of CUDA (README.md).
//
// A convolution has three engines: one that never gives the same bits twice, one that
// computes fp32 as TF32, and an exact one; what fuses more with it has none where channels
// are no multiple of 4, so that what is done then is tested too. Memory that the GPU does
// not reach, or that is misaligned, is an error.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/tensor/cuda/library/gpu_libraries.h"
#include "tests/emulated_cuda/numbers.h"
#include "tests/emulated_cuda/runtime.h"

// What cudnnHandle_t points to.
struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace grapevine {
namespace {

enum Engine : int64_t { kUnsteady, kTensorCores, kExact, kEngines };

constexpr int64_t kWorkspace = 1024;  // every engine's, who spoils it

// A descriptor of any type: what was set, as it came. It keeps alive those that it names.
struct Descriptor {
  cudnnBackendDescriptorType_t type;
  bool final = false;
  std::map<cudnnBackendAttributeName_t, std::vector<char>> values;
  std::map<cudnnBackendAttributeName_t, std::vector<std::shared_ptr<Descriptor>>> others;

  bool Has(cudnnBackendAttributeName_t name) const {
    return values.contains(name) || others.contains(name);
  }
  template <typename Value>
  std::vector<Value> All(cudnnBackendAttributeName_t name) const {
    const std::vector<char>& bytes = values.at(name);
    std::vector<Value> all(bytes.size() / sizeof(Value));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Value));
    return all;
  }
  template <typename Value>
  Value One(cudnnBackendAttributeName_t name) const {
    return All<Value>(name).at(0);
  }
  template <typename Value>
  void Set(cudnnBackendAttributeName_t name, const Value& value) {
    const auto* const bytes = reinterpret_cast<const char*>(&value);
    values[name].assign(bytes, bytes + sizeof(value));
  }
  const Descriptor& Other(cudnnBackendAttributeName_t name) const { return *others.at(name).at(0); }
};

// What a cudnnBackendDescriptor_t points to.
using Held = std::shared_ptr<Descriptor>;
Held& Of(cudnnBackendDescriptor_t descriptor) { return *static_cast<Held*>(descriptor); }

size_t BytesOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    default:
      return 4;
  }
}

cudaDataType_t TypeOf(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF:
      return CUDA_R_16F;
    case CUDNN_DATA_BFLOAT16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

// A tensor's descriptor. All are nhwc: (n, h, w, c) in memory.
struct Tensor {
  explicit Tensor(const Descriptor& d)
      : id(d.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        type(TypeOf(d.One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE))),
        within(d.One<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0) {
    const std::vector<int64_t> extents = d.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    n = extents.at(0);
    c = extents.at(1);
    h = extents.at(2);
    w = extents.at(3);
    is_nhwc =
        d.All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES) == std::vector<int64_t>{h * w * c, 1, w * c, c};
  }

  size_t size() const { return static_cast<size_t>(n * c * h * w); }

  int64_t id;
  cudaDataType_t type;
  bool within;
  bool is_nhwc;
  int64_t n, c, h, w;
};

// The names that the operations have for the same things.
struct ConvolutionNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
};
constexpr ConvolutionNames kForward = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr ConvolutionNames kDataGradient = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
constexpr ConvolutionNames kFilterGradient = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

const ConvolutionNames* NamesOf(cudnnBackendDescriptorType_t type) {
  for (const ConvolutionNames* names : {&kForward, &kDataGradient, &kFilterGradient}) {
    if (names->type == type) return names;
  }
  return nullptr;
}

struct Convolution {
  explicit Convolution(const Descriptor& operation)
      : names(*NamesOf(operation.type)),
        x(operation.Other(names.x)),
        w(operation.Other(names.w)),
        y(operation.Other(names.y)) {
    const Descriptor& d = operation.Other(names.convolution);
    stride = d.One<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    padding = d.One<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  }

  bool fits() const {
    const auto extent = [&](int64_t in, int64_t kernel) {
      return (in + 2 * padding - kernel) / stride + 1;
    };
    return x.is_nhwc && w.is_nhwc && y.is_nhwc && w.c == x.c && y.n == x.n && y.c == w.n &&
           y.h == extent(x.h, w.h) && y.w == extent(x.w, w.w);
  }
  const Tensor& result() const {
    return &names == &kForward ? y : &names == &kDataGradient ? x : w;
  }

  // The result, one of the three, begins as zeros.
  void Run(float* xs, float* ws, float* ys) const {
    // For one pixel of x and y and one place of the window: its k-th output.
    if (&names == &kForward) {
      ForEachPair(xs, ws, ys, [c = x.c](const float* x, const float* w, float* y) {
        float sum = 0;
        for (int64_t i = 0; i < c; ++i) sum += x[i] * w[i];
        *y += sum;
      });
    } else if (&names == &kDataGradient) {
      ForEachPair(xs, ws, ys, [c = x.c](float* __restrict__ x, const float* w, const float* y) {
        for (int64_t i = 0; i < c; ++i) x[i] += *y * w[i];
      });
    } else {
      ForEachPair(xs, ws, ys, [c = x.c](const float* x, float* __restrict__ w, const float* y) {
        for (int64_t i = 0; i < c; ++i) w[i] += *y * x[i];
      });
    }
  }

  const ConvolutionNames& names;
  const Tensor x, w, y;
  int64_t stride;
  int64_t padding;

 private:
  // Calls run(pixel of x, weights, number of y) for all that meet.
  template <typename Function>
  void ForEachPair(float* xs, float* ws, float* ys, const Function& run) const {
    for (int64_t n = 0; n < y.n; ++n) {
      for (int64_t row = 0; row < y.h; ++row) {
        for (int64_t column = 0; column < y.w; ++column, ys += y.c) {
          for (int64_t i = 0; i < w.h; ++i) {
            for (int64_t j = 0; j < w.w; ++j) {
              const int64_t h = row * stride - padding + i;
              const int64_t v = column * stride - padding + j;
              if (h < 0 || h >= x.h || v < 0 || v >= x.w) continue;
              float* const pixel = xs + ((n * x.h + h) * x.w + v) * x.c;
              for (int64_t k = 0; k < y.c; ++k) {
                run(pixel, ws + ((k * w.h + i) * w.w + j) * w.c, ys + k);
              }
            }
          }
        }
      }
    }
  }
};

// A plan, run once: its operations in order.
class Run {
 public:
  Run(const Descriptor& plan, const Descriptor& pack)
      : engine_(plan.Other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                    .Other(CUDNN_ATTR_ENGINECFG_ENGINE)
                    .One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX)),
        graph_(plan.Other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                   .Other(CUDNN_ATTR_ENGINECFG_ENGINE)
                   .others.at(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)
                   .at(0)),
        workspace_(pack.One<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)) {
    const auto ids = pack.All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto memory = pack.All<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (size_t i = 0; i < ids.size(); ++i) memory_[ids[i]] = memory.at(i);
  }

  bool IsValid() const {
    if (!emulated_cuda::Reaches(workspace_, kWorkspace)) return false;
    for (const auto& operation : operations()) {
      for (const auto& [name, others] : operation->others) {
        if (others[0]->type != CUDNN_BACKEND_TENSOR_DESCRIPTOR) continue;
        const Tensor tensor(*others[0]);
        if (tensor.within) continue;
        const auto found = memory_.find(tensor.id);
        if (found == memory_.end() ||
            !emulated_cuda::IsOperand(tensor.type, found->second, tensor.size())) {
          return false;
        }
      }
    }
    return true;
  }

  void operator()() {
    std::memset(workspace_, 0xff, kWorkspace);
    for (const auto& operation : operations()) {
      if (NamesOf(operation->type) != nullptr) {
        Convolve(Convolution(*operation));
      } else {
        Apply(*operation);
      }
    }
    within_.clear();
  }

 private:
  const std::vector<std::shared_ptr<Descriptor>>& operations() const {
    return graph_->others.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  }

  std::vector<float> Read(const Tensor& tensor) const {
    if (tensor.within) return within_.at(tensor.id);
    return emulated_cuda::Read(tensor.type, memory_.at(tensor.id), tensor.size());
  }
  void Write(std::vector<float> values, const Tensor& tensor) {
    if (tensor.within) {
      within_[tensor.id] = std::move(values);
    } else {
      emulated_cuda::Write(values, tensor.type, memory_.at(tensor.id));
    }
  }

  void Convolve(const Convolution& convolution) {
    const auto operand = [&](const Tensor& tensor) {
      if (&tensor == &convolution.result()) return std::vector<float>(tensor.size());
      std::vector<float> values = Read(tensor);
      if (engine_ == kTensorCores) emulated_cuda::RoundToTf32(&values);
      return values;
    };
    std::vector<float> x = operand(convolution.x);
    std::vector<float> w = operand(convolution.w);
    std::vector<float> y = operand(convolution.y);
    convolution.Run(x.data(), w.data(), y.data());
    std::vector<float>& result = &convolution.result() == &convolution.x   ? x
                                 : &convolution.result() == &convolution.w ? w
                                                                           : y;
    if (engine_ == kUnsteady) {
      static int runs = 0;
      for (float& value : result) value *= 1 + 1e-3f * static_cast<float>(++runs % 7);
    }
    Write(std::move(result), convolution.result());
  }

  void Apply(const Descriptor& operation) {
    const auto mode = operation.Other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                          .One<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    std::vector<float> values = Read(Tensor(operation.Other(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)));
    if (mode == CUDNN_POINTWISE_ADD) {
      // One number for each channel.
      const std::vector<float> added =
          Read(Tensor(operation.Other(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)));
      for (size_t i = 0; i < values.size(); ++i) values[i] += added[i % added.size()];
    } else {
      for (float& value : values) value = value < 0 ? 0 : value;
    }
    Write(std::move(values), Tensor(operation.Other(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)));
  }

  const int64_t engine_;
  const std::shared_ptr<const Descriptor> graph_;
  void* const workspace_;
  std::map<int64_t, void*> memory_;
  std::map<int64_t, std::vector<float>> within_;
};

// Whether there are engines for it.
bool IsServed(const Descriptor& graph) {
  const auto& operations = graph.others.at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (NamesOf(operations[0]->type) == nullptr) return false;
  const Convolution convolution(*operations[0]);
  return convolution.fits() && (operations.size() == 1 || convolution.y.c % 4 == 0);
}

size_t GetVersion() { return CUDNN_VERSION; }
const char* GetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "an error of emulated cuDNN";
}
void GetLastErrorString(char* words, size_t) { *words = '\0'; }

cudnnStatus_t Create(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t Destroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t SetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
  *made = new Held(new Descriptor{.type = type});
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t DestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Held*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t SetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  Descriptor& d = *Of(descriptor);
  if (d.final) return CUDNN_STATUS_BAD_PARAM;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* const others = static_cast<const cudnnBackendDescriptor_t*>(values);
    d.others[name].clear();
    for (int64_t i = 0; i < count; ++i) {
      if (!Of(others[i])->final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
      d.others[name].push_back(Of(others[i]));
    }
    return CUDNN_STATUS_SUCCESS;
  }
  const auto* const bytes = static_cast<const char*>(values);
  d.values[name].assign(bytes, bytes + static_cast<size_t>(count) * BytesOf(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Finalize(cudnnBackendDescriptor_t descriptor) {
  Descriptor& d = *Of(descriptor);
  if (const ConvolutionNames* const names = NamesOf(d.type); names != nullptr) {
    if (d.One<float>(names->alpha) != 1 || d.One<float>(names->beta) != 0) {
      return CUDNN_STATUS_NOT_SUPPORTED;
    }
  }
  if (d.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    if (!d.Has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE)) return CUDNN_STATUS_BAD_PARAM;
    d.Set(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, kWorkspace);
  }
  d.final = true;
  return CUDNN_STATUS_SUCCESS;
}

void FillConfiguration(const Held& graph, int64_t index, Descriptor* configuration) {
  auto engine = std::make_shared<Descriptor>(
      Descriptor{.type = CUDNN_BACKEND_ENGINE_DESCRIPTOR, .final = true});
  engine->Set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
  engine->others[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = {graph};
  if (index == kUnsteady) {
    engine->Set(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  } else if (index == kTensorCores) {
    engine->Set(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  } else {
    engine->values[CUDNN_ATTR_ENGINE_NUMERICAL_NOTE] = {};
  }
  configuration->others[CUDNN_ATTR_ENGINECFG_ENGINE] = {engine};
  configuration->final = true;
}

cudnnStatus_t GetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t wanted, int64_t* count,
                           void* values) {
  const Descriptor& d = *Of(descriptor);
  if (!d.final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    const Held& graph = d.others.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).at(0);
    *count = IsServed(*graph) ? std::min<int64_t>(wanted, kEngines) : 0;
    for (int64_t i = 0; i < *count; ++i) {
      FillConfiguration(graph, i, Of(static_cast<cudnnBackendDescriptor_t*>(values)[i]).get());
    }
    return CUDNN_STATUS_SUCCESS;
  }
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    *count = 1;
    Of(*static_cast<cudnnBackendDescriptor_t*>(values)) = d.others.at(name).at(0);
    return CUDNN_STATUS_SUCCESS;
  }
  const std::vector<char>& bytes = d.values.at(name);
  *count = static_cast<int64_t>(bytes.size() / BytesOf(type));
  if (*count > wanted) return CUDNN_STATUS_BAD_PARAM;
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(values));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t pack) {
  if (!Of(plan)->final || !Of(pack)->final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  Run run(*Of(plan), *Of(pack));
  if (!run.IsValid()) return CUDNN_STATUS_BAD_PARAM;
  const cudaError_t queued = emulated_cuda::Queue(handle->stream, [run]() mutable { run(); });
  return queued == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

absl::Status LoadCudnn() { return absl::OkStatus(); }

const CudnnLibrary& Cudnn() {
  static const CudnnLibrary library = {.get_version = GetVersion,
                                       .get_error_string = GetErrorString,
                                       .get_last_error_string = GetLastErrorString,
                                       .create = Create,
                                       .destroy = Destroy,
                                       .set_stream = SetStream,
                                       .create_descriptor = CreateDescriptor,
                                       .destroy_descriptor = DestroyDescriptor,
                                       .set_attribute = SetAttribute,
                                       .get_attribute = GetAttribute,
                                       .finalize = Finalize,
                                       .execute = Execute};
  return library;
}

}  // namespace grapevine
