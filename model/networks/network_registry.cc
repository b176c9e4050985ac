#include "model/networks/network_registry.h"

#include <glog/logging.h>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "kernels/tensor/cpu/cpu_tensor_device.h"
#include "model/networks/lenet5.h"
#include "model/networks/mlp.h"
#include "model/networks/resnet20.h"
#include "model/networks/resnet50.h"
#include "model/networks/softmax_regression.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

class Registry {
 public:
  void Add(std::string name, DescribeNetwork describe) {
    const MutexLock lock(mutex_);
    const bool added = networks_.emplace(name, std::move(describe)).second;
    CHECK(added) << "network " << name << " is registered twice";
  }

  DescribeNetwork Find(const std::string& name) const {
    const MutexLock lock(mutex_);
    const auto found = networks_.find(name);
    return found == networks_.end() ? nullptr : found->second;
  }

  std::vector<std::string> Names() const {
    const MutexLock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, describe] : networks_) names.push_back(name);
    return names;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, DescribeNetwork> networks_ ABSL_GUARDED_BY(mutex_) = {
      {"lenet5", DescribeLeNet5},
      {"mlp", DescribeMlp},
      {"resnet20", DescribeResNet20},
      {"resnet50", DescribeResNet50},
      {"softmax", DescribeSoftmaxRegression},
  };
};

Registry& TheRegistry() {
  static auto* registry = new Registry();
  return *registry;
}

}  // namespace

void RegisterNetwork(std::string name, DescribeNetwork describe) {
  TheRegistry().Add(std::move(name), std::move(describe));
}

std::vector<std::string> NetworkNames() { return TheRegistry().Names(); }

absl::StatusOr<std::unique_ptr<Network>> MakeNetwork(std::string_view spec, ImageShape input,
                                                     int64_t classes, const NetworkOptions& options,
                                                     std::unique_ptr<TensorDevice> device) {
  ASSIGN_OR_RETURN(const Spec parsed, ParseSpec(spec));
  const DescribeNetwork describe = TheRegistry().Find(parsed.name);
  if (describe == nullptr) {
    return SpecError(
        spec, absl::StrCat("unknown network; known are ", absl::StrJoin(NetworkNames(), ", ")));
  }
  SpecReader reader(parsed);
  NetworkBuilder builder(parsed.text, input);
  const NetworkBuilder::Tensor logits = describe(reader, classes, builder);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(NetworkGraph graph, builder.Build(logits));
  if (graph.classes() != classes) {
    return SpecError(
        spec, absl::StrCat("describes ", graph.classes(), " logits for ", classes, " classes"));
  }
  if (device == nullptr) device = std::make_unique<CpuTensorDevice>();
  return std::make_unique<GraphNetwork>(std::move(graph), std::move(device), options);
}

}  // namespace grapevine
