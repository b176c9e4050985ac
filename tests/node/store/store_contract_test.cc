// What every store keeps to: INSTANTIATE_TEST_SUITE_P has all of them.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "node/store/file_store.h"
#include "node/store/grpc_etcd_store.h"
#include "node/store/store.h"
#include "system/file.h"
#include "tests/model/scratch_folder.h"
#include "tests/node/store/etcd_server.h"
#include "tests/node/store/in_time.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::Eq;
using testing::EtcdServer;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Optional;

StoreDeadline Within(milliseconds time) { return steady_clock::now() + time; }

auto Holds(const std::string& value) { return Optional(Field(&StoredValue::value, Eq(value))); }

// The place of a store, which several clients open.
class StorePlace {
 public:
  virtual ~StorePlace() = default;
  virtual std::unique_ptr<Store> Open() = 0;
  // From now on it answers nobody.
  virtual void TakeAway() = 0;
};

class FilePlace final : public StorePlace {
 public:
  FilePlace() { std::filesystem::create_directory(folder_.File("disk")); }
  std::unique_ptr<Store> Open() override {
    return std::make_unique<FileStore>(folder_.File("disk/store"));
  }
  void TakeAway() override { std::filesystem::remove_all(folder_.File("disk")); }

 private:
  const ScratchFolder folder_;
};

class EtcdPlace final : public StorePlace {
 public:
  std::unique_ptr<Store> Open() override {
    return std::make_unique<EtcdStore>(
        grpc::CreateChannel(etcd_.address(), grpc::InsecureChannelCredentials()), etcd_.address());
  }
  void TakeAway() override { etcd_.Kill(); }

 private:
  const ScratchFolder folder_;
  EtcdServer etcd_{folder_.File("etcd")};
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<StorePlace>()> make;
};

class StoreContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam().name == "Etcd" && EtcdServer::Program().empty()) {
      GTEST_SKIP() << EtcdServer::kMissing;
    }
    place_ = GetParam().make();
    store_ = place_->Open();
  }

  std::optional<StoredValue> Get(const std::string& key) {
    absl::StatusOr<std::optional<StoredValue>> value = store_->Get(key, InTime());
    EXPECT_TRUE(value.ok()) << value.status();
    return value.value_or(std::nullopt);
  }
  LeaseId Grant(milliseconds time_to_live) {
    const absl::StatusOr<LeaseId> lease = store_->Grant(time_to_live, InTime());
    EXPECT_TRUE(lease.ok()) << lease.status();
    return lease.value_or(0);
  }

  std::unique_ptr<StorePlace> place_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, KeepsWhatWasPutUntilItIsDeleted) {
  EXPECT_EQ(Get("key"), std::nullopt);
  const auto first = store_->Put("key", "one", 0, InTime());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Get("key"),
            (StoredValue{.value = "one", .created = *first, .modified = *first, .lease = 0}));
  const auto second = place_->Open()->Put("key", "two", 0, InTime());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GT(*second, *first);
  EXPECT_EQ(Get("key"),
            (StoredValue{.value = "two", .created = *first, .modified = *second, .lease = 0}));
  EXPECT_THAT(store_->Delete("key", InTime()).value(), true);
  EXPECT_EQ(Get("key"), std::nullopt);
  EXPECT_THAT(store_->Delete("key", InTime()).value(), false);
  const auto third = store_->Put("key", "three", 0, InTime());
  EXPECT_GT(Get("key")->created, *second) << "who comes later has a larger revision";
}

TEST_P(StoreContract, SwapsOnlyWhatIsAsExpected) {
  const auto made = store_->CompareAndSwap("key", 0, "one", 0, InTime());
  ASSERT_TRUE(made.ok() && *made) << made.status();
  EXPECT_EQ(store_->CompareAndSwap("key", 0, "two", 0, InTime()).value(), std::nullopt);
  const auto swapped = store_->CompareAndSwap("key", **made, "two", 0, InTime());
  ASSERT_TRUE(swapped.ok() && *swapped) << swapped.status();
  EXPECT_GT(**swapped, **made);
  EXPECT_EQ(store_->CompareAndSwap("key", **made, "three", 0, InTime()).value(), std::nullopt);
  EXPECT_THAT(Get("key"), Holds("two"));
}

TEST_P(StoreContract, OfManyWhoWantAKeyOneGetsIt) {
  constexpr int kRivals = 4, kRaces = 10;
  std::atomic<int> won[kRaces] = {};
  std::vector<std::thread> rivals;
  for (int rival = 0; rival < kRivals; ++rival) {
    rivals.emplace_back([&, rival] {
      const std::unique_ptr<Store> store = place_->Open();
      for (int race = 0; race < kRaces; ++race) {
        const auto mine = store->CompareAndSwap("race " + std::to_string(race), 0,
                                                std::to_string(rival), 0, InTime());
        ASSERT_TRUE(mine.ok()) << mine.status();
        won[race] += mine->has_value();
      }
    });
  }
  for (std::thread& rival : rivals) rival.join();
  for (int race = 0; race < kRaces; ++race) EXPECT_EQ(won[race], 1) << race;
}

TEST_P(StoreContract, AnyBytesAreKeptExactly) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  const std::string key = std::string("../\0/\xff\n", 7) + "key";
  const std::string longest_key(Store::kMaxKey, '\xfe'), longest(Store::kMaxValue, '\0');
  const std::pair<std::string, std::string> cases[] = {
      {key, bytes}, {bytes.substr(0, 50), ""}, {longest_key, longest}};
  for (const auto& [name, value] : cases) {
    const auto put = store_->Put(name, value, 0, InTime());
    ASSERT_TRUE(put.ok()) << put.status();
  }
  for (const auto& [name, value] : cases) EXPECT_THAT(Get(name), Holds(value));
}

TEST_P(StoreContract, WhatIsOutOfBoundsIsRefused) {
  const std::string long_key(Store::kMaxKey + 1, 'k'), long_value(Store::kMaxValue + 1, 'v');
  const auto expect_refused = [](const absl::Status& status, const std::string& what) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  for (const std::string& key : {std::string(), long_key}) {
    const std::string what = "a key of " + std::to_string(key.size()) + " bytes";
    expect_refused(store_->Get(key, InTime()).status(), what);
    expect_refused(store_->Put(key, "", 0, InTime()).status(), what);
    expect_refused(store_->CompareAndSwap(key, 0, "", 0, InTime()).status(), what);
    expect_refused(store_->Delete(key, InTime()).status(), what);
    expect_refused(store_->AwaitChange(key, 0, InTime()).status(), what);
  }
  expect_refused(store_->Put("key", long_value, 0, InTime()).status(), "a value of 65537 bytes");
  expect_refused(store_->CompareAndSwap("key", 0, long_value, 0, InTime()).status(),
                 "a value of 65537 bytes");
  expect_refused(store_->Grant(milliseconds(999), InTime()).status(), "a lease of 999ms");
  expect_refused(store_->Grant(std::chrono::hours(25), InTime()).status(), "a lease of 25h");
}

TEST_P(StoreContract, TheKeysOfALeaseThatIsNotKeptAliveGo) {
  const LeaseId lease = Grant(Store::kMinTimeToLive);
  ASSERT_TRUE(store_->Put("mortal", "one", lease, InTime()).ok());
  ASSERT_TRUE(store_->Put("immortal", "two", 0, InTime()).ok());
  EXPECT_EQ(Get("mortal")->lease, lease);
  const auto gone = store_->AwaitChange("mortal", Get("mortal")->modified, InTime());
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_EQ(*gone, std::nullopt);
  EXPECT_TRUE(absl::IsNotFound(store_->KeepAlive(lease, InTime())));
  EXPECT_TRUE(absl::IsNotFound(store_->Put("mortal", "three", lease, InTime()).status()));
  EXPECT_TRUE(
      absl::IsNotFound(store_->CompareAndSwap("mortal", 0, "three", lease, InTime()).status()));
  EXPECT_EQ(Get("mortal"), std::nullopt);
  EXPECT_THAT(Get("immortal"), Holds("two"));
}

TEST_P(StoreContract, ALeaseThatIsKeptAliveLives) {
  const LeaseId lease = Grant(seconds(3));
  const auto put = store_->Put("key", "value", lease, InTime());
  ASSERT_TRUE(put.ok()) << put.status();
  for (const auto end = Within(seconds(4)); steady_clock::now() < end;) {
    const absl::Status status = store_->KeepAlive(lease, InTime());
    ASSERT_TRUE(status.ok()) << status;
    const auto value = store_->AwaitChange("key", *put, Within(milliseconds(300)));
    ASSERT_TRUE(value.ok()) << value.status();
    ASSERT_THAT(*value, Holds("value"));
  }
}

TEST_P(StoreContract, ARevokedLeaseTakesItsKeysAtOnce) {
  const LeaseId lease = Grant(Store::kMaxTimeToLive);
  ASSERT_TRUE(store_->Put("one", "value", lease, InTime()).ok());
  ASSERT_TRUE(store_->Put("two", "value", lease, InTime()).ok());
  EXPECT_TRUE(place_->Open()->Revoke(lease, InTime()).ok());
  EXPECT_EQ(Get("one"), std::nullopt);
  EXPECT_EQ(Get("two"), std::nullopt);
  EXPECT_TRUE(store_->Revoke(lease, InTime()).ok()) << "it has gone already";
}

TEST_P(StoreContract, AWaitEndsWithTheChange) {
  StoreRevision known = 0;
  for (const std::string value : {"one", "two", "three"}) {
    std::thread writer([&] {
      const auto put = place_->Open()->Put("key", value, 0, InTime());
      EXPECT_TRUE(put.ok()) << put.status();
    });
    const auto changed = store_->AwaitChange("key", known, InTime());
    writer.join();
    ASSERT_TRUE(changed.ok()) << changed.status();
    ASSERT_THAT(*changed, Holds(value));
    EXPECT_GT((*changed)->modified, known);
    known = (*changed)->modified;
  }
  std::thread remover([&] { EXPECT_TRUE(place_->Open()->Delete("key", InTime()).value()); });
  const auto changed = store_->AwaitChange("key", known, InTime());
  remover.join();
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(*changed, std::nullopt);
}

TEST_P(StoreContract, AWaitForNothingEndsAtItsDeadline) {
  const auto put = store_->Put("key", "value", 0, InTime());
  ASSERT_TRUE(put.ok()) << put.status();
  const auto same = store_->AwaitChange("key", *put, Within(seconds(1)));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_THAT(*same, Holds("value"));
  EXPECT_EQ(store_->AwaitChange("none", 0, Within(seconds(1))).value(), std::nullopt);
}

TEST_P(StoreContract, AStoreThatIsAwayIsNamedWithTheDeadlineAndTheRemedy) {
  const LeaseId lease = Grant(seconds(30));
  place_->TakeAway();
  const absl::Status errors[] = {
      store_->Get("key", Within(milliseconds(300))).status(),
      store_->Put("key", "value", 0, Within(milliseconds(300))).status(),
      store_->CompareAndSwap("key", 0, "value", 0, Within(milliseconds(300))).status(),
      store_->Delete("key", Within(milliseconds(300))).status(),
      store_->Grant(seconds(30), Within(milliseconds(300))).status(),
      store_->KeepAlive(lease, Within(milliseconds(300))),
      store_->Revoke(lease, Within(milliseconds(300))),
      store_->AwaitChange("key", 0, Within(milliseconds(300))).status()};
  for (const absl::Status& error : errors) {
    EXPECT_TRUE(absl::IsUnavailable(error)) << error;
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr(store_->name() + " did not answer within "), HasSubstr("?")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    ::testing::Values(StoreKind{"File", [] { return std::make_unique<FilePlace>(); }},
                      StoreKind{"Etcd", [] { return std::make_unique<EtcdPlace>(); }}),
    [](const auto& info) { return info.param.name; });

// A server that hangs says nothing, not even that there is no connection.
TEST(EtcdStore, AServerThatHangsIsAway) {
  if (EtcdServer::Program().empty()) GTEST_SKIP() << EtcdServer::kMissing;
  const ScratchFolder folder;
  EtcdServer etcd(folder.File("etcd"));
  EtcdStore store(grpc::CreateChannel(etcd.address(), grpc::InsecureChannelCredentials()),
                  etcd.address());
  const absl::StatusOr<LeaseId> lease = store.Grant(seconds(30), InTime());
  ASSERT_TRUE(lease.ok()) << lease.status();
  etcd.Freeze();
  for (const absl::Status& error :
       {store.Get("key", Within(milliseconds(300))).status(),
        store.KeepAlive(*lease, Within(milliseconds(300))),
        store.AwaitChange("key", 0, Within(milliseconds(300))).status()}) {
    EXPECT_TRUE(absl::IsUnavailable(error)) << error;
    EXPECT_THAT(error.message(), HasSubstr("etcd at " + etcd.address() + " did not answer"));
  }
  etcd.Thaw();
  EXPECT_TRUE(store.KeepAlive(*lease, InTime()).ok()) << "it is back";
}

TEST(EtcdStore, WhyThereIsNoConnectionIsSaid) {
  EtcdStore store(grpc::CreateChannel("127.0.0.1:1", grpc::InsecureChannelCredentials()),
                  "127.0.0.1:1");
  const absl::Status error = store.Get("key", Within(seconds(2))).status();
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(error.message(), AllOf(HasSubstr("etcd at 127.0.0.1:1"), HasSubstr("refused"),
                                     HasSubstr("is etcd running")));
}

TEST(FileStore, AFolderThatSomebodyKeepsLockedIsAway) {
  const ScratchFolder folder;
  FileStore store(folder.File("store"));
  ASSERT_TRUE(store.Put("key", "value", 0, InTime()).ok());
  const auto lock = FileLock::Take(folder.File("store/lock"), InTime());
  ASSERT_TRUE(lock.ok()) << lock.status();
  const absl::Status error = store.Get("key", Within(milliseconds(100))).status();
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(error.message(), HasSubstr("store/lock is locked by another process"));
}

TEST(FileStore, BrokenFilesAreNamed) {
  const ScratchFolder folder;
  FileStore store(folder.File("store"));
  ASSERT_TRUE(store.Put("k", "value", 0, InTime()).ok());
  ASSERT_TRUE(store.Put("l", "value", 0, InTime()).ok());
  const std::string k = folder.File("store/keys/6b"), l = folder.File("store/keys/6c");
  std::filesystem::copy_file(l, k, std::filesystem::copy_options::overwrite_existing);
  folder.Write("store/keys/6c", "garbage");
  for (const auto& [key, path] : {std::pair("k", k), std::pair("l", l)}) {
    const absl::Status error = store.Get(key, InTime()).status();
    EXPECT_TRUE(absl::IsDataLoss(error)) << error;
    EXPECT_THAT(error.message(), HasSubstr(path + " is not of a store; remove it"));
  }
  folder.Write("store/revision", "-1");
  const absl::Status error = store.Put("m", "value", 0, InTime()).status();
  EXPECT_THAT(error.message(), HasSubstr("store/revision is not of a store"));
}

// What a process that died has left is in nobody's way, and goes; what another writes stays.
TEST(FileStore, LeftoversAreIgnoredAndRemoved) {
  const ScratchFolder folder;
  FileStore store(folder.File("store"));
  const absl::StatusOr<LeaseId> lease = store.Grant(Store::kMinTimeToLive, InTime());
  const auto put = store.Put("k", "value", *lease, InTime());
  ASSERT_TRUE(put.ok()) << put.status();
  const std::vector<std::string> left = {folder.Write("store/keys/6b.tmp.1", "half"),
                                         folder.Write("store/leases/1.tmp.2", "half"),
                                         folder.Write("store/revision.tmp.3", "")};
  const auto half = AtomicFile::Create(folder.File("store/keys/6c"));
  ASSERT_TRUE(half.ok()) << half.status();
  const std::string foreign = folder.Write("store/keys/README", "not a key's");
  EXPECT_EQ(store.AwaitChange("k", *put, InTime()).value(), std::nullopt);
  ASSERT_TRUE(store.Grant(Store::kMinTimeToLive, InTime()).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.File("store/keys/6b")));
  EXPECT_FALSE(std::filesystem::exists(folder.File("store/leases/" + std::to_string(*lease))));
  for (const std::string& file : left) EXPECT_FALSE(std::filesystem::exists(file)) << file;
  EXPECT_TRUE((*half)->Commit().ok()) << "it is still there";
  EXPECT_TRUE(std::filesystem::exists(foreign));
}

}  // namespace
}  // namespace grapevine
