#include "experiment/core/experiment_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using Identity = std::map<std::string, std::string>;

std::unique_ptr<Experiment> Build(const std::map<std::string, std::string>& flags) {
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

Identity IdentityWith(const std::map<std::string, std::string>& flags) {
  const auto items = IdentityOf(*Build(flags));
  EXPECT_TRUE(items.ok()) << items.status();
  Identity identity;
  for (const IdentityItem& item : *items) identity[item.name] = item.value;
  return identity;
}

// A folder of CIFAR-10's form with one image a part, whose first pixel is `pixel`.
std::string WriteCifar(const ScratchFolder& folder, const std::string& name, char pixel) {
  std::filesystem::create_directories(folder.File(name));
  std::string record(1 + 3072, '\0');
  record[0] = 3;
  record[1] = pixel;
  folder.Write(name + "/data_batch_1.bin", record);
  folder.Write(name + "/test_batch.bin", record);
  return folder.File(name);
}

Identity WithData(const std::string& data) {
  return IdentityWith({{"model", "softmax"}, {"data", data}, {"nodes", "1"}, {"batch", "1"}});
}

TEST(ExperimentIdentity, DataIsComparedByItsContents) {
  const ScratchFolder folder;
  const Identity here = WithData("cifar10:" + WriteCifar(folder, "here", 7));
  EXPECT_EQ(WithData("cifar10:" + WriteCifar(folder, "there", 7)), here);
  EXPECT_THAT(here.at("data"), HasSubstr("cifar10: 1 + 1 images of 32x32x3 in 10 classes"));
  for (const std::string& other :
       {"cifar10:" + WriteCifar(folder, "other", 8), "cifar10:" + folder.File("here:augment=no")}) {
    const Identity there = WithData(other);
    EXPECT_NE(there.at("data"), here.at("data")) << other;
    EXPECT_EQ(there.at("layout of the replica"), here.at("layout of the replica"));
  }
}

TEST(ExperimentIdentity, GraphsFromFilesAreComparedByTheirContents) {
  const ScratchFolder folder;
  const std::string edges = "0 1\n1 2\n2 0\n";
  const auto with = [](const std::string& path) {
    return IdentityWith({{"topology", "file:" + path},
                         {"nodes", "3"},
                         {"model", "phantom:1kB"},
                         {"compute", "1ms"},
                         {"rounds", "1"}});
  };
  const Identity here = with(folder.Write("here", edges));
  EXPECT_EQ(with(folder.Write("there", edges)), here);
  EXPECT_THAT(here.at("topology"), HasSubstr("from a file, 3 edges, checksum "));
  EXPECT_NE(with(folder.Write("other", "0 1\n1 2\n")).at("topology"), here.at("topology"));
}

TEST(ExperimentIdentity, SettingsAreComparedAsText) {
  const Identity one = WithData("synthetic:train=64:test=20");
  EXPECT_EQ(one.at("topology"), "ring");
  EXPECT_EQ(one.at("batch"), "1");
  EXPECT_EQ(one.at("init_from"), "");
  const Identity other = IdentityWith({{"model", "softmax"},
                                       {"data", "synthetic:train=64:test=20"},
                                       {"nodes", "1"},
                                       {"batch", "8"}});
  EXPECT_EQ(other.at("batch"), "8");
  EXPECT_EQ(other.at("data"), one.at("data"));
}

}  // namespace
}  // namespace grapevine
