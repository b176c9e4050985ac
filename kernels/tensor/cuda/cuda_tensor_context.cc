#include "kernels/tensor/cuda/cuda_tensor_context.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/tensor/cuda/library/gpu_libraries.h"

namespace grapevine {
namespace {

constexpr int kAmpere = 80;  // the first generation with bf16
constexpr int kMeasuredRuns = 3;

int64_t Rounded(int64_t bytes) {
  return (bytes + kCudaAlignment - 1) / kCudaAlignment * kCudaAlignment;
}

// Allocates memory of the calling thread's GPU. It is freed at once, not cached: plans want many
// sizes, once each.
absl::StatusOr<std::shared_ptr<void>> MemoryToMeasure(int64_t bytes, const std::string& key) {
  void* memory = nullptr;
  absl::Status status =
      CudaStatus(cudaMalloc(&memory, static_cast<size_t>(bytes)),
                 absl::StrCat("cudaMalloc of ", bytes, " bytes to measure ", key));
  if (!status.ok()) {
    cudaGetLastError();  // clears the error, so that the next launch does not find it
    return status;
  }
  return std::shared_ptr<void>(memory, [](void* held) { cudaFree(held); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaTensorContext>> CudaTensorContext::Make(
    Device& memory, cudaStream_t stream, const CudaTensorOptions& options) {
  std::unique_ptr<CudaTensorContext> context(new CudaTensorContext(memory, stream, options));
  if (context->options_.plans == nullptr) context->options_.plans = std::make_shared<PlanCache>();
  RETURN_IF_ERROR(context->Open());
  return context;
}

absl::Status CudaTensorContext::Open() {
  RETURN_IF_ERROR(CudaStatus(cudaSetDevice(options_.device), "cudaSetDevice"));
  cudaDeviceProp properties;
  RETURN_IF_ERROR(
      CudaStatus(cudaGetDeviceProperties(&properties, options_.device), "cudaGetDeviceProperties"));
  if (options_.type == ElementType::kBFloat16 &&
      10 * properties.major + properties.minor < kAmpere) {
    return absl::UnavailableError(
        absl::StrCat(properties.name, " computes no bf16 (compute capability ", properties.major,
                     ".", properties.minor, ", it needs 8.0): use fp16 or fp32"));
  }
  RETURN_IF_ERROR(LoadCudnn());
  RETURN_IF_ERROR(LoadBlas());
  device_ = absl::StrCat(properties.name, ", cuDNN ", Cudnn().get_version(), ", cuBLASLt ",
                         Blas().get_version());
  RETURN_IF_ERROR(CudnnStatus(Cudnn().create(&cudnn_), "cudnnCreate"));
  RETURN_IF_ERROR(CudnnStatus(Cudnn().set_stream(cudnn_, stream_), "cudnnSetStream"));
  if (const cublasStatus_t made = Blas().create(&blas_); made != CUBLAS_STATUS_SUCCESS) {
    return absl::InternalError(absl::StrCat("cublasLtCreate: ", Blas().get_status_string(made)));
  }
  return absl::OkStatus();
}

CudaTensorContext::~CudaTensorContext() {
  if (blas_ != nullptr) Blas().destroy(blas_);
  if (cudnn_ != nullptr) Cudnn().destroy(cudnn_);
}

void CudaTensorContext::NoteError(cudaError_t error, std::string_view call) {
  Note(CudaStatus(error, call));
}

absl::Status CudaTensorContext::TakeError() {
  absl::Status error = error_;
  error_ = absl::OkStatus();
  return error;
}

absl::StatusOr<size_t> CudaTensorContext::Fastest(const Candidates& candidates) {
  ASSIGN_OR_RETURN(const FastestPlan fastest, ChooseFastest(candidates));
  product_seconds_ += fastest.seconds;
  return fastest.index;
}

absl::StatusOr<FastestPlan> CudaTensorContext::ChooseFastest(const Candidates& candidates) {
  if (candidates.workspace_bytes.empty()) {
    return absl::InternalError(absl::StrCat(candidates.key, ": no plan"));
  }
  // The memory is allocated when a candidate is measured that needs more: a cached choice needs
  // none, and if memory is short, a candidate with a small workspace still has its chance.
  std::shared_ptr<void> memory;
  int64_t allocated = 0;
  std::vector<void*> arguments;
  const auto allocate = [&](int64_t workspace) -> absl::Status {
    std::vector<int64_t> bytes = candidates.argument_bytes;
    bytes.push_back(workspace);
    int64_t total = 0;
    for (int64_t size : bytes) total += Rounded(size);
    if (memory != nullptr && total <= allocated) return absl::OkStatus();
    memory = nullptr;  // freed before the new memory is allocated
    arguments.clear();
    absl::StatusOr<std::shared_ptr<void>> made = MemoryToMeasure(total, candidates.key);
    // The device may have memory in its cache.
    if (absl::IsResourceExhausted(made.status())) {
      made = memory_.Allocate(total, absl::StrCat("measuring ", candidates.key));
    }
    if (!made.ok()) return made.status();
    memory = *std::move(made);
    allocated = total;
    char* at = static_cast<char*>(memory.get());
    for (int64_t size : bytes) {
      arguments.push_back(at);
      at += Rounded(size);
    }
    return CudaStatus(cudaMemsetAsync(memory.get(), 0, static_cast<size_t>(total), stream_),
                      "cudaMemsetAsync");
  };
  const PlanChoice choice{.key = absl::StrCat(candidates.key, " on ", device_),
                          .workspace_bytes = candidates.workspace_bytes,
                          .most_workspace_bytes = options_.most_workspace_bytes};
  absl::StatusOr<FastestPlan> fastest =
      options_.plans->Choose(choice, [&](size_t index) -> absl::StatusOr<double> {
        RETURN_IF_ERROR(allocate(candidates.workspace_bytes[index]));
        return Seconds([&] { return candidates.run(index, arguments); });
      });
  cudaGetLastError();  // clears the libraries' errors, so that the next launch does not find them
  // The memory is still in use. Freeing it would wait on, so that it is leaked.
  if (absl::IsDeadlineExceeded(fastest.status())) new std::shared_ptr<void>(std::move(memory));
  return fastest;
}

absl::StatusOr<CudnnPlan> CudaTensorContext::Fastest(CudnnGraph graph) {
  const std::string name = graph.name();
  auto known = cudnn_plans_.find(name);
  if (known == cudnn_plans_.end()) {
    ASSIGN_OR_RETURN(KnownPlan chosen, ChooseFastest(std::move(graph)));
    known = cudnn_plans_.emplace(name, std::move(chosen)).first;
  }
  product_seconds_ += known->second.seconds;
  return known->second.plan;
}

absl::StatusOr<CudaTensorContext::KnownPlan> CudaTensorContext::ChooseFastest(CudnnGraph graph) {
  ASSIGN_OR_RETURN(
      const std::vector<CudnnPlan> plans,
      graph.Plans(CudnnTarget(cudnn_),
                  {.tensor_cores_for_fp32 = options_.tf32, .deterministic = options_.deterministic},
                  options_.plans_to_measure));
  Candidates candidates{.key = absl::StrCat(graph.name(), Conditions())};
  for (const CudnnPlan& plan : plans) {
    candidates.workspace_bytes.push_back(plan.workspace_bytes());
  }
  for (const CudnnTensor& tensor : graph.arguments()) {
    candidates.argument_bytes.push_back(tensor.format.bytes());
  }
  candidates.run = [&](size_t index, std::span<void* const> memory) -> absl::Status {
    std::vector<CudnnPlan::Argument> arguments;
    for (size_t i = 0; i < graph.arguments().size(); ++i) {
      arguments.push_back({graph.arguments()[i].id, memory[i]});
    }
    ASSIGN_OR_RETURN(const CudnnCall call, plans[index].Bind(arguments, memory.back()));
    return call.Run(cudnn_);
  };
  ASSIGN_OR_RETURN(const FastestPlan fastest, ChooseFastest(candidates));
  return KnownPlan{plans[fastest.index], fastest.seconds};
}

std::string CudaTensorContext::Conditions() const {
  return absl::StrCat(options_.tf32 ? "" : " without TF32",
                      options_.deterministic ? "" : " in any order", ", the best of ",
                      options_.plans_to_measure);
}

absl::StatusOr<double> CudaTensorContext::Seconds(const std::function<absl::Status()>& run) {
  absl::Status status = run();  // the first run loads code, and is not measured
  const CudaEvent begin(stream_, /*timed=*/true);
  for (int i = 0; i < kMeasuredRuns && status.ok(); ++i) status = run();
  CudaEvent end(stream_, /*timed=*/true);
  // Waits after an error too: the queued work uses memory that is freed next.
  RETURN_IF_ERROR(end.Wait(options_.timeout));
  RETURN_IF_ERROR(status);
  return std::chrono::duration<double>(end.Since(begin)).count() / kMeasuredRuns;
}

namespace {

// Returns whether a parameter can be used at its place in the replica, `memory`.
bool Fits(const TensorShape& shape, ElementType type, const float* memory) {
  const bool same_order = shape.c == 1 || shape.area() == 1;
  return type == ElementType::kFloat32 && same_order &&
         reinterpret_cast<uintptr_t>(memory) % kProductAlignment == 0;
}

}  // namespace

const void* ProductParameters::Memory(const float* replica, void* packed) const {
  return Fits(shape, type, replica + offset) ? replica + offset : packed;
}

const void* ProductParameters::Pack(CudaTensorContext& context, const float* replica,
                                    void* packed) const {
  const void* const memory = Memory(replica, packed);
  if (memory == packed) {
    context.Note(PackWeights(shape, replica + offset, type, packed, context.stream()), name);
  }
  return memory;
}

void* ProductParameters::GradientMemory(const LossScaled& scaled, float* gradient,
                                        void* packed) const {
  const bool final = scaled.inverse == 1 && scaled.overflow == nullptr;
  return final && Fits(shape, gradient_type, gradient + offset) ? gradient + offset : packed;
}

void ProductParameters::UnpackGradient(CudaTensorContext& context, float* gradient,
                                       void* packed) const {
  const LossScaled& scaled = context.loss_scaled();
  if (GradientMemory(scaled, gradient, packed) != packed) return;
  context.Note(grapevine::UnpackGradient(shape, gradient_type, packed, scaled, gradient + offset,
                                         context.stream()),
               absl::StrCat("gradient of the ", name));
}

}  // namespace grapevine
