#include "capi/grapevine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "capi/library_log.h"
#include "capi/setting_names.h"
#include "experiment/api.h"
#include "experiment/real/outside_node.h"
#include "kernels/vector/replica_layout.h"
#include "run/config/resolved_config.h"
#include "run/records/metrics.h"
#include "run/records/revision.h"
#include "system/temporary_folder.h"
#include "topology/spectrum/spectrum.h"
#include "topology/spectrum/topology_json.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

// A node, and the task that its caller was given last, which stays until the caller asks again.
struct grapevine_node {
  std::unique_ptr<grapevine::OutsideNode> node;
  std::optional<grapevine::GradientDesk::Task> task;
  bool wanted = false;  // whether the gradient of `task` has not been delivered
};

namespace grapevine {
namespace {

// The most elements of a replica, so that sizes in bytes stay far from the end of 64 bits.
constexpr int64_t kMostElements = int64_t{1} << 40;
// The longest wait, so that every wait has an end.
constexpr int64_t kLongestWaitMs = int64_t{24} * 3600 * 1000;

using Settings = std::map<std::string, std::string>;

int Fill(const absl::Status& status, grapevine_error* error) {
  if (error == nullptr) return ExitCode(status);
  error->code = ExitCode(status);
  const std::string message = WithSettingNames({status.message().data(), status.message().size()});
  const size_t length = std::min(message.size(), sizeof(error->message) - 1);
  std::memcpy(error->message, message.data(), length);
  error->message[length] = '\0';
  return error->code;
}

// Turns what `body` throws, such as std::bad_alloc, into an error like any other.
template <typename Body>
int Guarded(grapevine_error* error, Body&& body) {
  try {
    return Fill(body(), error);
  } catch (const std::exception& thrown) {
    return Fill(absl::InternalError(thrown.what()), error);
  } catch (...) {
    return Fill(absl::InternalError("an unknown exception"), error);
  }
}

absl::Status Missing(std::string_view argument) {
  return UsageError(absl::StrCat(std::string(argument), " is NULL"));
}

absl::StatusOr<Settings> Read(const grapevine_setting* settings, size_t count) {
  if (count > 0 && settings == nullptr) return Missing("settings");
  Settings read;
  for (size_t i = 0; i < count; ++i) {
    if (settings[i].name == nullptr || settings[i].value == nullptr) {
      return UsageError(absl::StrCat("setting ", i, " has no name or no value"));
    }
    if (!read.emplace(settings[i].name, settings[i].value).second) {
      return UsageError(absl::StrCat("the setting ", settings[i].name, " is given twice"));
    }
  }
  return read;
}

absl::StatusOr<std::vector<int64_t>> ShapeOf(const grapevine_tensor& tensor, int64_t room) {
  if (tensor.dimensions < 0 || (tensor.dimensions > 0 && tensor.shape == nullptr)) {
    return UsageError(absl::StrCat("the tensor ", tensor.name, " has no shape"));
  }
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.dimensions);
  int64_t size = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || (size > 0 && extent > room / size)) {
      return UsageError(absl::StrCat("the tensor ", tensor.name, " has the extent ", extent,
                                     ", which is negative or makes a replica of more than ",
                                     kMostElements, " elements"));
    }
    size *= extent;
  }
  return shape;
}

absl::Status AddTensor(const grapevine_tensor& tensor, ReplicaLayout* layout) {
  if (tensor.name == nullptr || tensor.name[0] == '\0') return UsageError("a tensor has no name");
  ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(tensor, kMostElements - layout->size));
  if (tensor.section == GRAPEVINE_BUFFER) {
    layout->AddBuffer(tensor.name, std::move(shape));
    return absl::OkStatus();
  }
  if (tensor.section != GRAPEVINE_PARAMETER) {
    return UsageError(absl::StrCat("the tensor ", tensor.name, " is in no section there is"));
  }
  if (!layout->buffers.empty()) {
    return UsageError(absl::StrCat("the parameter ", tensor.name, " comes after the buffer ",
                                   layout->buffers.back().name, "; put all parameters first"));
  }
  layout->AddParameter(tensor.name, std::move(shape));
  return absl::OkStatus();
}

absl::Status CheckNames(const ReplicaLayout& layout) {
  std::set<std::string> names;
  for (const auto* section : {&layout.parameters, &layout.buffers}) {
    for (const TensorView& tensor : *section) {
      if (names.insert(tensor.name).second) continue;
      return UsageError(absl::StrCat("two tensors are called ", tensor.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OutsideModel> Read(const grapevine_model* model) {
  if (model == nullptr) return Missing("model");
  if (model->tensors == nullptr || model->values == nullptr) return Missing("tensors or values");
  OutsideModel read;
  for (size_t i = 0; i < model->tensor_count; ++i) {
    RETURN_IF_ERROR(AddTensor(model->tensors[i], &read.layout));
  }
  RETURN_IF_ERROR(CheckNames(read.layout));
  if (read.layout.parameter_size == 0) return UsageError("the model has no parameters");
  if (!read.layout.buffers.empty()) {
    if (!(model->buffer_momentum >= 0 && model->buffer_momentum <= 1)) {
      return UsageError(absl::StrCat("the momentum of buffers is ", model->buffer_momentum,
                                     ", and has to be in 0 .. 1"));
    }
    read.layout.buffer_momentum = model->buffer_momentum;
  }
  read.initial.assign(model->values, model->values + read.layout.size);
  if (const std::string where = FirstNonFinite(read.layout, read.initial.data()); !where.empty()) {
    return UsageError(absl::StrCat("the starting values of ", where, " are not finite"));
  }
  return read;
}

std::chrono::steady_clock::time_point In(int64_t ms) {
  return std::chrono::steady_clock::now() +
         std::chrono::milliseconds(std::clamp<int64_t>(ms, 0, kLongestWaitMs));
}

void Show(const GradientDesk::Task& task, grapevine_task* shown) {
  shown->state = task.over() ? GRAPEVINE_OVER : GRAPEVINE_WANTED;
  shown->round = task.round;
  shown->size = task.replica.size;
  shown->replica = task.replica.data.get();
  shown->gradient = task.gradient.data.get();
}

// Takes the next task; leaves `node` without a task at the deadline.
absl::Status Await(std::chrono::steady_clock::time_point deadline, grapevine_node* node) {
  node->task.reset();
  node->wanted = false;
  ASSIGN_OR_RETURN(node->task, node->node->Await(deadline));
  node->wanted = node->task && !node->task->over();
  return absl::OkStatus();
}

absl::Status CheckWanted(const grapevine_node& node) {
  if (node.wanted) return absl::OkStatus();
  return UsageError("no gradient is wanted now; grapevine_await says when one is");
}

absl::Status DeliverWeights(grapevine_node* node, const float* weights, double loss) {
  RETURN_IF_ERROR(node->node->DeliverWeights(*node->task, weights, loss));
  node->wanted = false;
  return absl::OkStatus();
}

absl::Status Return(const std::string& text, char** out) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return absl::ResourceExhaustedError("no memory for the result");
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return absl::OkStatus();
}

absl::StatusOr<Summary> SimulateFor(const Settings& settings) {
  ASSIGN_OR_RETURN(const auto experiment, MakeExperiment(settings));
  if (settings.contains("out")) return Simulate(*experiment);
  ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::Make());
  return Simulate(*experiment, {.out = folder->path() + "/run"});
}

absl::StatusOr<std::string> TopologyFor(Settings settings) {
  for (const auto& [name, value] : settings) {
    static const std::set<std::string> kOfGraphs = {"topology", "nodes", "mixing", "seed"};
    if (kOfGraphs.contains(name)) continue;
    return UsageError(absl::StrCat("--", name, "=", value,
                                   ": a graph has topology, nodes, mixing and seed alone"));
  }
  // A graph needs no model, but an experiment does; this is the smallest.
  settings.insert({{"model", "quadratic:dim=1"}, {"rounds", "1"}});
  ASSIGN_OR_RETURN(const auto experiment, MakeExperiment(settings));
  ASSIGN_OR_RETURN(const TopologySummary summary, Summarize(experiment->mixing(), 0));
  std::string json;
  RETURN_IF_ERROR(
      WriteTopologyJson(summary, experiment->mixing().topology(), [&json](std::string_view text) {
        json.append(text);
        return absl::OkStatus();
      }));
  return json;
}

}  // namespace
}  // namespace grapevine

extern "C" {

using grapevine::Guarded;

const char* grapevine_version(void) {
  static const std::string* const version = new std::string(grapevine::Version());
  return version->c_str();
}

int grapevine_identify(const grapevine_setting* settings, size_t setting_count, int32_t* rank,
                       int32_t* size, int32_t* local_rank, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (rank == nullptr || size == nullptr || local_rank == nullptr) {
      return grapevine::Missing("rank, size or local_rank");
    }
    ASSIGN_OR_RETURN(const auto read, grapevine::Read(settings, setting_count));
    ASSIGN_OR_RETURN(const auto identity, grapevine::OutsideNode::Identify(read));
    *rank = identity.rank.value;
    *size = identity.world_size.value;
    *local_rank = identity.local_rank.value;
    return absl::OkStatus();
  });
}

int grapevine_join(const grapevine_setting* settings, size_t setting_count,
                   const grapevine_model* model, grapevine_node** node, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr) return grapevine::Missing("node");
    *node = nullptr;
    grapevine::QuietenLog();
    ASSIGN_OR_RETURN(const auto read, grapevine::Read(settings, setting_count));
    ASSIGN_OR_RETURN(grapevine::OutsideModel outside, grapevine::Read(model));
    ASSIGN_OR_RETURN(auto joined, grapevine::OutsideNode::Join(read, std::move(outside)));
    *node = new grapevine_node{std::move(joined), std::nullopt};
    return absl::OkStatus();
  });
}

int32_t grapevine_rank(const grapevine_node* node) {
  return node == nullptr ? -1 : node->node->rank();
}

int32_t grapevine_size(const grapevine_node* node) {
  return node == nullptr ? 0 : node->node->experiment().config().nodes();
}

int grapevine_setting_of(grapevine_node* node, const char* name, char** value,
                         grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr || name == nullptr) return grapevine::Missing("node or name");
    if (value == nullptr) return grapevine::Missing("value");
    *value = nullptr;
    ASSIGN_OR_RETURN(const std::string text, node->node->SettingOf(name));
    return grapevine::Return(text, value);
  });
}

int grapevine_await(grapevine_node* node, int64_t timeout_ms, grapevine_task* task,
                    grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr) return grapevine::Missing("node");
    if (task == nullptr) return grapevine::Missing("task");
    *task = {};
    RETURN_IF_ERROR(grapevine::Await(grapevine::In(timeout_ms), node));
    if (node->task) grapevine::Show(*node->task, task);
    return absl::OkStatus();
  });
}

int grapevine_deliver(grapevine_node* node, double loss, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr) return grapevine::Missing("node");
    RETURN_IF_ERROR(grapevine::CheckWanted(*node));
    RETURN_IF_ERROR(node->node->Deliver(loss));
    node->wanted = false;
    return absl::OkStatus();
  });
}

int grapevine_deliver_weights(grapevine_node* node, const float* weights, double loss,
                              grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr || weights == nullptr) return grapevine::Missing("node or weights");
    RETURN_IF_ERROR(grapevine::CheckWanted(*node));
    return grapevine::DeliverWeights(node, weights, loss);
  });
}

int grapevine_mix(grapevine_node* node, float* weights, double loss, int64_t timeout_ms,
                  int32_t* state, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr || weights == nullptr || state == nullptr) {
      return grapevine::Missing("node, weights or state");
    }
    *state = GRAPEVINE_WAITING;
    const auto deadline = grapevine::In(timeout_ms);
    RETURN_IF_ERROR(grapevine::Await(deadline, node));
    if (!node->task) return absl::OkStatus();
    RETURN_IF_ERROR(grapevine::CheckWanted(*node));
    RETURN_IF_ERROR(grapevine::DeliverWeights(node, weights, loss));
    RETURN_IF_ERROR(grapevine::Await(deadline, node));
    if (!node->task) return absl::OkStatus();
    *state = node->task->over() ? GRAPEVINE_OVER : GRAPEVINE_WANTED;
    std::ranges::copy(node->task->replica.span(), weights);
    return absl::OkStatus();
  });
}

int grapevine_retire(grapevine_node* node, int32_t everybody, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr) return grapevine::Missing("node");
    RETURN_IF_ERROR(node->node->Retire(everybody != 0));
    node->wanted = false;
    return absl::OkStatus();
  });
}

int grapevine_metrics(grapevine_node* node, char** json, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr) return grapevine::Missing("node");
    if (json == nullptr) return grapevine::Missing("json");
    const std::optional<grapevine::RunMetrics> latest = node->node->latest();
    return grapevine::Return(latest ? grapevine::ToJsonLine(*latest) : "null", json);
  });
}

int grapevine_average(grapevine_node* node, float* weights, int64_t* round, double* distance,
                      grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr || weights == nullptr || round == nullptr || distance == nullptr) {
      return grapevine::Missing("node, weights, round or distance");
    }
    *round = -1;
    const auto average = node->node->average();
    if (!average) return absl::OkStatus();
    *round = average->round;
    *distance = average->consensus_distance.value_or(std::nan(""));
    std::ranges::copy(average->model, weights);
    return absl::OkStatus();
  });
}

void grapevine_interrupt(grapevine_node* node, const char* why) {
  Guarded(nullptr, [&]() -> absl::Status {
    if (node == nullptr) return absl::OkStatus();
    node->node->Interrupt(grapevine::InterruptedError(why == nullptr ? "interrupted" : why));
    return absl::OkStatus();
  });
}

int grapevine_finish(grapevine_node* node, int64_t timeout_ms, int32_t* finished,
                     grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (node == nullptr || finished == nullptr) return grapevine::Missing("node or finished");
    const std::optional<absl::Status> end = node->node->AwaitEnd(grapevine::In(timeout_ms));
    *finished = end.has_value();
    return end.value_or(absl::OkStatus());
  });
}

int grapevine_leave(grapevine_node* node, int64_t timeout_ms, grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    const std::unique_ptr<grapevine_node> owned(node);
    if (node == nullptr) return absl::OkStatus();
    const std::optional<absl::Status> end = node->node->AwaitEnd(grapevine::In(timeout_ms));
    grapevine::OutsideNode::Release(std::move(owned->node));
    if (end) return *end;
    return grapevine::WithFailure(
        absl::DeadlineExceededError("the node left the run before that was over"),
        grapevine::Failure::kTerminated);
  });
}

int grapevine_simulate(const grapevine_setting* settings, size_t setting_count, char** json,
                       grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (json == nullptr) return grapevine::Missing("json");
    *json = nullptr;
    grapevine::QuietenLog();
    ASSIGN_OR_RETURN(const auto read, grapevine::Read(settings, setting_count));
    ASSIGN_OR_RETURN(const grapevine::Summary summary, grapevine::SimulateFor(read));
    return grapevine::Return(grapevine::ToJsonText(summary), json);
  });
}

int grapevine_topology(const grapevine_setting* settings, size_t setting_count, char** json,
                       grapevine_error* error) {
  return Guarded(error, [&]() -> absl::Status {
    if (json == nullptr) return grapevine::Missing("json");
    *json = nullptr;
    grapevine::QuietenLog();
    ASSIGN_OR_RETURN(auto read, grapevine::Read(settings, setting_count));
    ASSIGN_OR_RETURN(const std::string text, grapevine::TopologyFor(std::move(read)));
    return grapevine::Return(text, json);
  });
}

void grapevine_free(char* text) { std::free(text); }

}  // extern "C"
