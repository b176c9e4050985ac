#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/registry.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "experiment/core/spec_help.h"
#include "model/data/dataset_batches.h"
#include "model/datasets/dataset_kind.h"
#include "model/files/safetensors.h"
#include "model/networks/network_kind.h"
#include "model/problem/network_problem.h"
#include "run/config/config_field.h"
#include "run/config/resolved_config.h"

namespace grapevine {
namespace {

constexpr char kEvalExamples[] =
    "Examples:\n"
    "  grapevine eval runs/ring/model.safetensors --data=mnist:DIR\n"
    "  grapevine eval runs/ring/node-3/model.safetensors --model=resnet20 --data=cifar10:DIR "
    "--json";

struct EvalOptions {
  std::string file;
  std::string model;  // empty: that of the file
  std::string data = "synthetic";
  bool train = false;
  bool json = false;
};

void Print(const EvalOptions& options, const std::string& model, const EvaluationSums& evaluation) {
  const double samples = static_cast<double>(evaluation.samples);
  const double loss = evaluation.loss_sum / samples;
  const double accuracy = static_cast<double>(evaluation.correct) / samples;
  if (options.json) {
    std::cout << nlohmann::json({{"model", model},
                                 {"data", options.data},
                                 {"part", options.train ? "train" : "test"},
                                 {"samples", evaluation.samples},
                                 {"loss", loss},
                                 {"accuracy", accuracy}})
              << std::endl;
    return;
  }
  std::cout << absl::StrFormat("%s on %s (%s, %d samples): accuracy %.2f %%, loss %.4f",
                               PrintableLines(model), options.data,
                               options.train ? "train" : "test", evaluation.samples, 100 * accuracy,
                               loss)
            << std::endl;
}

absl::Status CheckIsFinite(const std::string& file, const std::vector<float>& replica) {
  if (std::ranges::all_of(replica, [](float element) { return std::isfinite(element); })) {
    return absl::OkStatus();
  }
  return WithFailure(
      absl::OutOfRangeError(absl::StrCat(
          file,
          ": the model has NaN or infinite elements: its run has diverged (a lower --lr or a "
          "warm-up may help)")),
      Failure::kDiverged);
}

absl::Status Evaluate(const EvalOptions& options) {
  ASSIGN_OR_RETURN(Safetensors file, Safetensors::Open(options.file));
  const auto named = file.metadata().find("model");
  std::string model = options.model;
  if (model.empty()) model = named == file.metadata().end() ? "lenet5" : named->second;

  absl::StatusOr<TrainTest> data = MakeDataset(options.data);
  if (!data.ok()) return NamingFlag("--data", options.data, data.status());
  const std::shared_ptr<const Dataset>& part = options.train ? data->train : data->test;
  absl::StatusOr<std::unique_ptr<Network>> network =
      MakeNetwork(model, part->traits().shape, part->traits().classes, {});
  if (!network.ok()) return NamingFlag("--model", model, network.status());
  std::vector<float> replica((*network)->layout().size);
  RETURN_IF_ERROR(file.Load((*network)->layout(), replica.data()));
  RETURN_IF_ERROR(CheckIsFinite(options.file, replica));
  ASSIGN_OR_RETURN(EvaluationSums evaluation,
                   EvaluateOn(part, replica.data(), **network,
                              {.threads = PrefetchThreads(*part, /*processes=*/1, /*gpu=*/false)}));
  Print(options, model, evaluation);
  return absl::OkStatus();
}

}  // namespace

void AddEvalCommand(CommandLine& line) {
  Command command = line.AddCommand("eval", "loss and accuracy of a model file on a data set");
  auto options = std::make_shared<EvalOptions>();
  command
      .AddFlag({.names = "MODEL", .help = "a model as safetensors", .placeholder = "FILE"},
               &options->file)
      .Required();
  command.AddFlag({.names = "--model",
                   .help = "the model's network (default: from the file's metadata, else lenet5)",
                   .placeholder = "SPEC",
                   .words = ValueWords(ConfigFieldNamed("model"))},
                  &options->model);
  command.AddFlag({.names = "--data",
                   .help = absl::StrCat("data set: ", JoinUsages(Datasets().Listings())),
                   .placeholder = "SPEC",
                   .words = ValueWords(ConfigFieldNamed("data"))},
                  &options->data);
  const Flag train = command.AddSwitch(
      {.names = "--train", .help = "evaluate on the training set instead of the test set"});
  const Flag json =
      command.AddSwitch({.names = "--json", .help = "print one JSON object instead of text"});
  command.SetFooter(kEvalExamples);
  command.OnChosen([options, train, json] {
    options->train = train.given();
    options->json = json.given();
    return Evaluate(*options);
  });
}

}  // namespace grapevine
