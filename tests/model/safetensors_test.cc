#include "model/files/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/vector/replica_layout.h"
#include "model/networks/network_kind.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

ReplicaLayout ConvolutionLayout() {
  ReplicaLayout layout;
  layout.AddParameter("conv.weight", {2, 1, 3});
  layout.AddParameter("conv.bias", {2});
  layout.AddBuffer("bn.running_mean", {2});
  return layout;
}

std::vector<float> Replica(const ReplicaLayout& layout) {
  std::vector<float> replica(static_cast<size_t>(layout.size));
  std::iota(replica.begin(), replica.end(), 0.5f);
  return replica;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string File(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

TEST(SafetensorsTest, WritesTheBytesOfTheFormat) {
  const ScratchFolder folder;
  ReplicaLayout layout;
  layout.AddParameter("b", {1});
  layout.AddParameter("a", {});
  const std::vector<float> replica = {1, 2};
  ASSERT_TRUE(WriteSafetensors(folder.File("m"), layout, replica.data(), {{"round", "7"}}).ok());
  const std::string header = R"({"__metadata__":{"round":"7"},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(ReadAll(folder.File("m")),
            File(padded, std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8)));
}

TEST(SafetensorsTest, ReadsWhatItWrote) {
  const ScratchFolder folder;
  const ReplicaLayout layout = ConvolutionLayout();
  const std::vector<float> replica = Replica(layout);
  const SafetensorsMetadata metadata = {{"topology", "ring \"8\""}, {"model", "tiny"}};
  ASSERT_TRUE(WriteSafetensors(folder.File("m"), layout, replica.data(), metadata).ok());
  const absl::StatusOr<Safetensors> file = Safetensors::Open(folder.File("m"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata(), metadata);
  EXPECT_THAT(file->tensors().at("conv.weight").shape, ::testing::ElementsAre(2, 1, 3));
  std::vector<float> loaded(replica.size());
  ASSERT_TRUE(file->Load(layout, loaded.data()).ok());
  EXPECT_EQ(loaded, replica);
}

TEST(SafetensorsTest, LoadsTensorsInAnotherOrder) {
  const ScratchFolder folder;
  ReplicaLayout reversed;
  reversed.AddParameter("bn.running_mean", {2});
  reversed.AddParameter("conv.bias", {2});
  reversed.AddParameter("conv.weight", {2, 1, 3});
  const std::vector<float> replica = Replica(reversed);
  ASSERT_TRUE(WriteSafetensors(folder.File("m"), reversed, replica.data(), {}).ok());
  std::vector<float> loaded(replica.size());
  ASSERT_TRUE(Safetensors::Open(folder.File("m"))->Load(ConvolutionLayout(), loaded.data()).ok());
  EXPECT_THAT(loaded, ::testing::ElementsAre(4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 2.5, 3.5, 0.5, 1.5));
}

TEST(SafetensorsTest, FilesOfOtherModelsAreRefusedByTensor) {
  const ScratchFolder folder;
  const ReplicaLayout layout = ConvolutionLayout();
  ASSERT_TRUE(WriteSafetensors(folder.File("m"), layout, Replica(layout).data(), {}).ok());
  const absl::StatusOr<Safetensors> file = Safetensors::Open(folder.File("m"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<float> loaded(100, -1);
  const auto refusal = [&](const ReplicaLayout& other) {
    const absl::Status status = file->Load(other, loaded.data());
    EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
    EXPECT_EQ(loaded, std::vector<float>(100, -1)) << "a refused file must not change the replica";
    return std::string(status.message());
  };
  ReplicaLayout missing = layout;
  missing.AddBuffer("bn.running_var", {2});
  EXPECT_THAT(refusal(missing), HasSubstr("/m: tensor 'bn.running_var' of shape [2] is missing"));
  ReplicaLayout fewer;
  fewer.AddParameter("conv.weight", {2, 1, 3});
  fewer.AddParameter("conv.bias", {2});
  EXPECT_THAT(refusal(fewer), HasSubstr("tensor 'bn.running_mean' is not in the model"));
  ReplicaLayout reshaped;
  reshaped.AddParameter("conv.weight", {2, 3});
  EXPECT_THAT(refusal(reshaped), HasSubstr("tensor 'conv.weight': expected shape [2, 3], found "
                                           "[2, 1, 3]"));
}

TEST(SafetensorsTest, HostileFilesAreRefused) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    const std::string path = folder.Write("m", bytes);
    const absl::Status status = Safetensors::Open(path).status();
    EXPECT_EQ(FailureOf(status), Failure::kInput) << status << " for " << bytes;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path + ": "));
    return std::string(status.message());
  };
  const std::string data(8, 'x');
  const auto tensor = [](const std::string& name, const std::string& shape,
                         const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}";
  };
  EXPECT_THAT(refusal(""), HasSubstr("expected at least 8 bytes, found 0"));
  EXPECT_THAT(refusal(std::string(8, '\xff')), HasSubstr("its header claims 18446744073709551615"));
  EXPECT_THAT(refusal(std::string("\x09\0\0\0\0\0\0\0{}", 10)),
              HasSubstr("its header claims 9 bytes; expected at most 2"));
  EXPECT_THAT(refusal(File("{\"a\":")), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(File("[]")), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(File(std::string(100'000, '['))), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(File("{\"a\":1}")), HasSubstr("tensor 'a': expected an object"));
  EXPECT_THAT(refusal(File(R"({"a":{}})")), HasSubstr("expected dtype F32, found none"));
  EXPECT_THAT(refusal(File(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", data)),
              HasSubstr("tensor 'a': expected dtype F32, found \"BF16\""));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[-1]", "[0,4]") + "}", data)),
              HasSubstr("expected a shape of non-negative integers"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[1.0]", "[0,4]") + "}", data)),
              HasSubstr("expected a shape"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[1]", "[0]") + "}", data)),
              HasSubstr("expected two data_offsets"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[1]", "[4,0]") + "}", data)),
              HasSubstr("its bytes 4 to 0 are not within"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[3]", "[0,12]") + "}", data)),
              HasSubstr("its bytes 0 to 12 are not within the file's 8 bytes"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[3]", "[0,8]") + "}", data)),
              HasSubstr("its shape [3] does not take 8 bytes"));
  EXPECT_THAT(
      refusal(File("{" + tensor("a", "[4611686018427387904,4611686018427387904]", "[0,8]") + "}",
                   data)),
      HasSubstr("does not take 8 bytes"));
  EXPECT_THAT(
      refusal(
          File("{" + tensor("a", "[1]", "[0,4]") + "," + tensor("b", "[1]", "[0,4]") + "}", data)),
      HasSubstr("tensor 'b' overlaps another one"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[1]", "[4,8]") + "}", data)),
              HasSubstr("tensor 'a' leaves a hole before it"));
  EXPECT_THAT(refusal(File("{" + tensor("a", "[1]", "[0,4]") + "}", data)),
              HasSubstr("4 bytes after the last tensor belong to none"));
  EXPECT_THAT(
      refusal(
          File("{" + tensor("a", "[1]", "[0,4]") + "," + tensor("a", "[1]", "[4,8]") + "}", data)),
      HasSubstr("the header names 'a' twice"));
  EXPECT_THAT(refusal(File(R"({"__metadata__":{"round":7}})")),
              HasSubstr("__metadata__: 'round' is not a string"));
  EXPECT_THAT(refusal(File(R"({"__metadata__":[]})")), HasSubstr("is not an object"));
  EXPECT_THAT(refusal(File("{\"\xff\":1}")), HasSubstr("not a JSON object"));
}

// Each of these took the stack, or the message, as deep or long as the header.
TEST(SafetensorsTest, DeepAndLongHeadersAreRefusedInFewWords) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& header) {
    const std::string path = folder.Write("m", File(header));
    const absl::Status status = Safetensors::Open(path).status();
    EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
    EXPECT_LT(status.message().size(), path.size() + 1000);
    return std::string(status.message());
  };
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(refusal(R"({"a":{"dtype":)" + deep + "}}"),
              HasSubstr("tensor 'a': expected dtype F32"));
  EXPECT_THAT(refusal(R"({"a":{"shape":)" + deep + "}}"),
              HasSubstr("expected a shape of non-negative integers"));
  EXPECT_THAT(refusal(R"({"a":{"more":)" + deep + "}}"), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(refusal(R"({"__metadata__":)" + deep + "}"), HasSubstr("is not an object"));
  EXPECT_THAT(refusal("{\"" + std::string(100'000, 'a') + "\":1}"),
              HasSubstr("aaa...': expected an object"));
  EXPECT_THAT(refusal("{\"\\u001b[31m\":1}"), HasSubstr("tensor '\\x1b[31m'"));
  std::string shape = "1";
  for (int i = 0; i < 100'000; ++i) shape += ",1";
  EXPECT_THAT(refusal(R"({"a":{"shape":[)" + shape + "]}}"),
              HasSubstr("has more than 64 dimensions"));
}

// A reader that takes time in the square of it would need minutes.
TEST(SafetensorsTest, ManyTensorsTakeTimeInProportion) {
  constexpr int kTensors = 200'000;
  std::string header = "{";
  for (int i = 0; i < kTensors; ++i) {
    absl::StrAppend(&header, i == 0 ? "" : ",", "\"t", i,
                    R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})");
  }
  const ScratchFolder folder;
  const absl::StatusOr<Safetensors> file = Safetensors::Open(folder.Write("m", File(header + "}")));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().size(), kTensors);
}

// As safetensors.torch.save_file writes the state_dict() of a network with batch
// normalization: wide types first, then by name.
std::string AsPyTorchWrites(const ReplicaLayout& layout, std::span<const float> replica) {
  std::string header, counters, floats;
  const auto add = [&](const std::string& name, const char* dtype, const std::string& shape,
                       const std::string& bytes, std::string* data) {
    const size_t begin = counters.size() + floats.size();
    absl::StrAppend(&header, header.empty() ? "{\"__metadata__\":{\"format\":\"pt\"}" : "", ",\"",
                    name, "\":{\"dtype\":\"", dtype, "\",\"shape\":[", shape,
                    "],\"data_offsets\":[", begin, ",", begin + bytes.size(), "]}");
    *data += bytes;
  };
  std::map<std::string, TensorView> sorted;
  for (const TensorView& view : layout.parameters) sorted.emplace(view.name, view);
  for (const TensorView& view : layout.buffers) sorted.emplace(view.name, view);
  for (const auto& [name, view] : sorted) {
    constexpr std::string_view kMean = "running_mean";
    if (!name.ends_with(kMean)) continue;
    add(name.substr(0, name.size() - kMean.size()) + "num_batches_tracked", "I64", "",
        std::string("\x07\0\0\0\0\0\0\0", 8), &counters);
  }
  for (const auto& [name, view] : sorted) {
    const char* bytes = reinterpret_cast<const char*>(replica.data() + view.offset);
    add(name, "F32", absl::StrJoin(view.shape, ","), std::string(bytes, view.size * sizeof(float)),
        &floats);
  }
  return File(header + "}", counters + floats);
}

TEST(SafetensorsTest, ReadsAResNetOfPyTorch) {
  const auto network = MakeNetwork("resnet20", {32, 32, 3}, 10, {});
  ASSERT_TRUE(network.ok()) << network.status();
  const ReplicaLayout& layout = (*network)->layout();
  const std::vector<float> replica = Replica(layout);
  const ScratchFolder folder;
  const absl::StatusOr<Safetensors> file =
      Safetensors::Open(folder.Write("m", AsPyTorchWrites(layout, replica)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors().at("bn1.num_batches_tracked").dtype, "I64");
  std::vector<float> loaded(replica.size());
  const absl::Status status = file->Load(layout, loaded.data());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(loaded, replica);
}

TEST(SafetensorsTest, OtherIntegersAreNoWeights) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& name, const std::string& shape, size_t bytes) {
    const std::string path =
        folder.Write("m", File(absl::StrCat("{\"", name, R"(":{"dtype":"I64","shape":)", shape,
                                            R"(,"data_offsets":[0,)", bytes, "]}}"),
                               std::string(bytes, 'x')));
    const absl::StatusOr<Safetensors> file = Safetensors::Open(path);
    if (!file.ok()) return std::string(file.status().message());
    ReplicaLayout layout;
    if (name == "a") layout.AddParameter("a", {2});
    std::vector<float> replica(2);
    const absl::Status status = file->Load(layout, replica.data());
    EXPECT_EQ(FailureOf(status), Failure::kInput);
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("a", "[2]", 16), HasSubstr("tensor 'a': expected dtype F32, found I64"));
  EXPECT_THAT(refusal("a", "[2]", 8), HasSubstr("its shape [2] does not take 8 bytes"));
  EXPECT_THAT(refusal("steps", "[]", 8), HasSubstr("tensor 'steps' is not in the model"));
  EXPECT_THAT(refusal("bn.num_batches_tracked", "[2]", 16), HasSubstr("is not in the model"));
}

TEST(SafetensorsTest, EveryTruncationIsRefused) {
  const ScratchFolder folder;
  const ReplicaLayout layout = ConvolutionLayout();
  ASSERT_TRUE(
      WriteSafetensors(folder.File("m"), layout, Replica(layout).data(), {{"a", "b"}}).ok());
  const std::string whole = ReadAll(folder.File("m"));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string path = folder.Write("cut", whole.substr(0, size));
    EXPECT_EQ(FailureOf(Safetensors::Open(path).status()), Failure::kInput) << size;
  }
}

TEST(SafetensorsTest, UnwritablePathsAreOutputErrorsAndMissingOnesInputErrors) {
  const ReplicaLayout layout = ConvolutionLayout();
  const absl::Status status =
      WriteSafetensors("/nonexistent/m", layout, Replica(layout).data(), {});
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/m"));
  EXPECT_EQ(FailureOf(Safetensors::Open("/nonexistent/m").status()), Failure::kInput);
}

TEST(SafetensorsTest, AnEmptyModelIsAFileToo) {
  const ScratchFolder folder;
  ASSERT_TRUE(WriteSafetensors(folder.File("m"), {}, nullptr, {}).ok());
  const absl::StatusOr<Safetensors> file = Safetensors::Open(folder.File("m"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->Load({}, nullptr).ok());
}

}  // namespace
}  // namespace grapevine
