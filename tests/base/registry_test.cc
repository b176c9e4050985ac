#include "base/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/spec.h"
#include "base/status.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

struct Fruit {
  std::string name;
  std::string options;
  std::string help;
  int seeds = 0;
  bool tail = false;
};

Registry<Fruit>& Fruits() {
  static auto* const fruits = new Registry<Fruit>("fruit");
  return *fruits;
}

const Registration kPear(Fruits(), {.name = "pear", .help = "green", .seeds = 10});
const Registration kApple(Fruits(),
                          {.name = "apple", .options = "[:peeled=yes]", .help = "red", .seeds = 5});

std::string Refusal(const char* text) {
  const auto fruit = Fruits().Read(text);
  EXPECT_EQ(FailureOf(fruit.status()), Failure::kUsage);
  return std::string(fruit.status().message());
}

TEST(Registry, KnowsByNameWhatRegisteredBeforeMain) {
  EXPECT_EQ(Fruits().Read("apple:peeled=yes")->kind->seeds, 5);
  EXPECT_EQ(Fruits().Find("pear")->seeds, 10);
  EXPECT_EQ(Fruits().Find("plum"), nullptr);
}

TEST(Registry, ListsByName) {
  std::vector<std::string> names;
  for (const Fruit* fruit : Fruits().All()) names.push_back(fruit->name);
  EXPECT_THAT(names, ElementsAre("apple", "pear"));
  EXPECT_EQ(JoinUsages(Fruits().Listings()), "apple[:peeled=yes], pear");
  EXPECT_EQ(JoinHelp(Fruits().Listings()), "apple[:peeled=yes] (red), pear (green)");
}

struct Dish {
  std::string name;
  std::string options;
  std::string help;
  std::function<std::vector<Listing>()> variants = nullptr;
};

TEST(Registry, HelpEndsWithTheVariantsThatThereAreWhenItIsAskedFor) {
  Registry<Fruit> fruits("fruit");
  Registry<Dish> dishes("dish");
  dishes.Add({.name = "bread", .help = "baked"});
  dishes.Add(
      {.name = "pie", .options = "[:KIND]", .help = "baked, with fruit", .variants = [&fruits] {
         return fruits.Listings();
       }});
  fruits.Add({.name = "plum", .options = "[:dried=yes]", .help = "blue"});
  fruits.Add({.name = "fig", .help = "blue"});
  EXPECT_EQ(JoinHelp(dishes.Listings()),
            "bread (baked), pie[:KIND] (baked, with fruit; KIND: fig, plum[:dried=yes])");
}

TEST(Registry, TakesSpecsApartAsTheirKindSays) {
  Registry<Fruit> fruits("fruit");
  fruits.Add({.name = "file", .options = ":PATH", .help = "in a basket", .tail = true});
  fruits.Add({.name = "fig", .help = "blue"});
  EXPECT_THAT(fruits.Read("file:/a::b=c:b=d")->spec.arguments, ElementsAre("/a::b=c:b=d"));
  EXPECT_TRUE(fruits.Read("file")->spec.arguments.empty());
  EXPECT_EQ(fruits.Read("fig::ripe").status().message(), "fig::ripe: empty field between colons");
  EXPECT_EQ(fruits.Read("").status().message(), "'': a name is missing");
}

TEST(Registry, NamesTheNearestAndAllThatAreKnown) {
  EXPECT_EQ(Refusal("aple:peeled=no"),
            "aple:peeled=no: unknown fruit 'aple'; did you mean apple? known: "
            "apple[:peeled=yes], pear");
  EXPECT_EQ(Refusal("watermelon"),
            "watermelon: unknown fruit 'watermelon'; known: apple[:peeled=yes], pear");
}

TEST(RegistryDeathTest, WhatNobodyCouldNameIsABug) {
  Registry<Fruit> fruits("fruit");
  fruits.Add({.name = "fig", .help = "blue"});
  EXPECT_DEATH(fruits.Add({.name = "fig", .help = "black"}), "fruit fig is registered twice");
  EXPECT_DEATH(fruits.Add({.name = "a:b", .help = "two"}), "fruit 'a:b' is not a name");
  EXPECT_DEATH(fruits.Add({.name = "", .help = "none"}), "is not a name");
  EXPECT_DEATH(fruits.Add({.name = "date"}), "fruit 'date' needs one line of help");
}

TEST(Registry, IsSafeFromAnyThread) {
  constexpr int kThreads = 4, kEach = 50;
  Registry<Fruit> fruits("fruit");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&fruits, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string name = "f" + std::to_string(t * kEach + i);
        fruits.Add({.name = name, .help = "one of many", .seeds = i});
        EXPECT_EQ(fruits.Find(name)->seeds, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fruits.All().size(), size_t{kThreads} * kEach);
}

}  // namespace
}  // namespace grapevine
