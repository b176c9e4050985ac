// What other programs write for `grapevine`, and what it writes for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"
#include "tests/model/datasets/image_of.h"
#include "tests/model/datasets/write_npz.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The command with more flags.
std::vector<std::string> With(std::vector<std::string> command,
                              const std::vector<std::string>& flags) {
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

constexpr char kSynthetic[] = "synthetic:train=512:test=64";

std::string Pixels(const Dataset& data) {
  std::string pixels;
  for (int64_t i = 0; i < data.size(); ++i) {
    for (const uint8_t pixel : ImageOf(data, i)) pixels += static_cast<char>(pixel);
  }
  return pixels;
}

std::string LabelBytes(const Dataset& data) {
  return {reinterpret_cast<const char*>(data.labels().data()), data.labels().size_bytes()};
}

TEST(Npz, TrainsToTheSameBitsAsTheSameDataInAnotherFormat) {
  const ScratchFolder folder;
  const absl::StatusOr<TrainTest> data = MakeDataset(kSynthetic);
  ASSERT_TRUE(data.ok()) << data.status();
  const std::string file = WriteNpz(folder.File("digits.npz"),
                                    {{"x_train", Npy("|u1", "(512, 28, 28)", Pixels(*data->train))},
                                     {"y_train", Npy("<u2", "(512,)", LabelBytes(*data->train))},
                                     {"x_test", Npy("|u1", "(64, 28, 28)", Pixels(*data->test))},
                                     {"y_test", Npy("<u2", "(64,)", LabelBytes(*data->test))}},
                                    /*compressed=*/true);
  const std::map<std::string, std::string> runs = {
      {"native", kSynthetic}, {"npz", absl::StrCat("npz:", file, ":mean=0.11:std=0.5")}};
  for (const auto& [name, spec] : runs) {
    const Ended ended =
        RunGrapevine({"train", "-n", "2", "--model=softmax", "--rounds=8", "--batch=16",
                      "--data=" + spec, "--out=" + folder.File(name)});
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
  }
  for (const char* model : {"/model.safetensors", "/node-1/model.safetensors"}) {
    const std::string native = FileText(folder.File("native") + model);
    EXPECT_FALSE(native.empty());
    EXPECT_TRUE(native == FileText(folder.File("npz") + model)) << model;
  }
}

TEST(Npz, AFileThatIsNoneEndsTheRunBeforeItBegins) {
  const ScratchFolder folder;
  const std::string file = folder.Write("x.npz", "no archive");
  const Ended ended = RunGrapevine({"sim", "-n", "2", "--rounds=1", "--compute=1ms",
                                    "--data=npz:" + file, "--out=" + folder.File("run")});
  EXPECT_EQ(ended.exit_code, kInput);
  EXPECT_THAT(ended.output, HasSubstr(file + ": cannot open it as an archive of numpy.savez"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("run")));
}

std::vector<std::string> EventFiles(const std::string& run) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.")) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// As another reader of the format sees them.
std::vector<json> Events(const std::string& run) {
  const std::vector<std::string> files = EventFiles(run);
  EXPECT_FALSE(files.empty());
  const Ended read = RunGrapevine(files, {.program = "tests/process/read_events.py"});
  EXPECT_EQ(read.exit_code, 0) << read.output;
  return JsonLinesOf(read.output);
}

const std::map<std::string, std::string>& TagsOfFields() {
  static const auto* const tags = new std::map<std::string, std::string>{
      {"epoch", "train/epoch"},
      {"time_s", "time/seconds"},
      {"train_loss", "train/loss"},
      {"learning_rate", "train/learning_rate"},
      {"test_loss", "test/loss"},
      {"test_accuracy", "test/accuracy"},
      {"consensus_distance", "consensus/distance"},
      {"bytes_sent_total", "bytes/sent"},
      {"evaluation_bytes_sent_total", "bytes/sent_for_evaluations"},
      {"samples_per_s", "train/samples_per_s"}};
  return *tags;
}

// The scalars of an event are the fields of a line of metrics.jsonl, as single floats.
void ExpectSame(const json& event, const json& line) {
  EXPECT_EQ(event["step"], line["round"]);
  EXPECT_EQ(event["scalars"].size() + 1, line.size()) << event << line;
  for (const auto& [field, tag] : TagsOfFields()) {
    ASSERT_EQ(line.contains(field), event["scalars"].contains(tag)) << tag;
    if (!line.contains(field)) continue;
    EXPECT_EQ(event["scalars"][tag].get<float>(), static_cast<float>(line[field].get<double>()))
        << tag;
  }
}

TEST(TensorBoard, ASimulatedRunHasItsMeasurementsAtSimulatedTimes) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const Ended ended = RunGrapevine({"sim", "-n", "3", "--model=softmax", "--compute=1ms",
                                    absl::StrCat("--data=", kSynthetic), "--batch=8", "--rounds=40",
                                    "--log-every=5", "--tensorboard", "--out=" + run});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const std::vector<json> events = Events(run), lines = JsonLines(run + "/metrics.jsonl");
  constexpr double kBegin = 946684800;  // 2000-01-01
  EXPECT_EQ(events[0]["file_version"], "brain.Event:2");
  EXPECT_EQ(events[0]["wall_time"], kBegin);
  ASSERT_EQ(events.size(), lines.size() + 1);
  for (size_t i = 0; i < lines.size(); ++i) {
    ExpectSame(events[i + 1], lines[i]);
    EXPECT_NEAR(events[i + 1]["wall_time"].get<double>(), kBegin + lines[i]["time_s"].get<double>(),
                1e-6);
  }
}

TEST(TensorBoard, RealRunsHaveOneOfRankZeroOnlyIfAsked) {
  const ScratchFolder folder;
  const std::vector<std::string> train = {
      "train", "-n", "2", "--model=softmax", absl::StrCat("--data=", kSynthetic), "--rounds=6"};
  const std::string with = folder.File("with"), without = folder.File("without");
  const Ended ended = RunGrapevine(With(train, {"--tensorboard", "--out=" + with}));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const std::vector<json> events = Events(with), lines = JsonLines(with + "/metrics.jsonl");
  EXPECT_EQ(EventFiles(with).size(), 1u);
  EXPECT_TRUE(EventFiles(with + "/node-1").empty());
  ASSERT_EQ(events.size(), lines.size() + 1);
  double before = 1.6e9;  // the present, roughly
  for (size_t i = 0; i < lines.size(); ++i) {
    ExpectSame(events[i + 1], lines[i]);
    EXPECT_GE(events[i + 1]["wall_time"], before);
    before = events[i + 1]["wall_time"];
  }
  ASSERT_EQ(RunGrapevine(With(train, {"--out=" + without})).exit_code, 0);
  EXPECT_TRUE(EventFiles(without).empty());
  // Another run in its place leaves nothing of it.
  ASSERT_EQ(RunGrapevine(With(train, {"--out=" + with, "--overwrite"})).exit_code, 0);
  EXPECT_TRUE(EventFiles(with).empty());
}

TEST(TensorBoard, ARunThatGoesOnBeginsAnotherFileThatOverrulesTheFirst) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const std::vector<std::string> common = {"--checkpoint-every=10", "--tensorboard"};
  ASSERT_EQ(RunGrapevine(With({"sim", "-n", "2", "--model=softmax", "--compute=1ms",
                               absl::StrCat("--data=", kSynthetic), "--batch=8", "--rounds=30",
                               "--log-every=5", "--out=" + run},
                              common))
                .exit_code,
            0);
  // As if it had been killed behind its first checkpoint that is kept.
  std::filesystem::remove_all(run + "/checkpoints/round-30");
  std::filesystem::remove(run + "/summary.json");
  const Ended resumed = RunGrapevine(With({"sim", "--resume=" + run}, common));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  ASSERT_EQ(EventFiles(run).size(), 2u);
  const std::vector<json> events = Events(run);
  const auto start =
      std::ranges::find_if(events, [](const json& event) { return event.contains("session"); });
  ASSERT_NE(start, events.end());
  EXPECT_EQ((*start)["session"], 1);
  EXPECT_EQ((*start)["step"], 21);
  // What a reader keeps that obeys: each round once, as metrics.jsonl.
  std::vector<json> kept;
  for (auto event = events.begin(); event != events.end(); ++event) {
    if (!event->contains("scalars")) continue;
    if (event < start && (*event)["step"] >= 21) continue;
    kept.push_back(*event);
  }
  const std::vector<json> lines = JsonLines(run + "/metrics.jsonl");
  ASSERT_EQ(kept.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) ExpectSame(kept[i], lines[i]);
}

TEST(Csv, HasAllMeasurementsOfARun) {
  const ScratchFolder folder;
  const std::string run = folder.File("run"), csv = folder.File("run.csv");
  ASSERT_EQ(RunGrapevine({"sim", "-n", "2", "--model=phantom:1kB", "--compute=1ms", "--rounds=5",
                          "--log-every=1", "--out=" + run})
                .exit_code,
            0);
  const Ended ended = RunGrapevine({"compare", run, "--measurements", "--format=csv", "-o", csv});
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(FileText(csv), StartsWith("run,method,round,epoch,time_s,train_loss,"));
  EXPECT_EQ(std::ranges::count(FileText(csv), '\n'), 6);
  const Ended sorted = RunGrapevine({"compare", run, "--measurements", "--sort=time"});
  EXPECT_EQ(sorted.exit_code, kUsage);
  EXPECT_THAT(sorted.output, ::testing::AllOf(HasSubstr("--measurements"), HasSubstr("--sort")));
}

}  // namespace
}  // namespace grapevine::testing
