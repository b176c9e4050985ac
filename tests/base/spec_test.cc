#include "base/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string ParseError(std::string_view text) {
  return std::string(ParseSpec(text).status().message());
}

TEST(SpecTest, ANameAlone) {
  const auto spec = ParseSpec("ring");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name, "ring");
  EXPECT_TRUE(spec->arguments.empty());
  EXPECT_TRUE(spec->options.empty());
}

TEST(SpecTest, ArgumentsAndOptionsInAnyOrder) {
  const auto spec = ParseSpec("a:x=1:/data/k=v:b:two-words=c=d");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->arguments, ElementsAre("/data/k=v", "b"));
  EXPECT_THAT(spec->options, ElementsAre(Pair("two-words", "c=d"), Pair("x", "1")));
}

TEST(SpecTest, RefusesWhatIsMissingOrTwice) {
  EXPECT_EQ(ParseError(""), "'': a name is missing");
  EXPECT_EQ(ParseError(":d=3"), "':d=3': a name is missing");
  EXPECT_EQ(ParseError("ring:"), "ring:: empty field between colons");
  EXPECT_EQ(ParseError("random:d="), "random:d=: option d has no value");
  EXPECT_EQ(ParseError("random:d=3:d=4"), "random:d=3:d=4: option d is given twice");
  EXPECT_EQ(FailureOf(ParseSpec("").status()), Failure::kUsage);
}

TEST(SpecTest, SplitsLists) {
  const auto cells = SplitSpecList("ring, torus:4x8");
  ASSERT_TRUE(cells.ok()) << cells.status();
  EXPECT_THAT(*cells, ElementsAre("ring", "torus:4x8"));
  EXPECT_EQ(SplitSpecList("ring,,star").status().message(),
            "'ring,,star': empty entry in a comma-separated list");
}

TEST(SpecReaderTest, ReadsTypedOptionsAndDefaults) {
  const auto spec = ParseSpec("x:first:n=-3:p=0.25:t=abc:order=atc");
  ASSERT_TRUE(spec.ok()) << spec.status();
  SpecReader reader(*spec);
  EXPECT_EQ(reader.Argument(), "first");
  EXPECT_EQ(reader.Argument("none"), "none");
  EXPECT_EQ(reader.Integer("n", 1), -3);
  EXPECT_EQ(reader.Integer("m", 7), 7);
  EXPECT_EQ(reader.Real("p", 1), 0.25);
  EXPECT_EQ(reader.Text("t", ""), "abc");
  EXPECT_EQ(reader.Choice("order", {"awc", "atc"}), "atc");
  EXPECT_EQ(reader.Choice("other", {"awc", "atc"}), "awc");
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(SpecReaderTest, RefusesBadValuesByKey) {
  const auto error = [](std::string_view text) {
    const auto spec = ParseSpec(text);
    SpecReader reader(*spec);
    reader.Integer("n", 1, 0, 10);
    reader.Real("p", 1, 0, 1);
    reader.Choice("order", {"awc", "atc"});
    return std::string(reader.Finish().message());
  };
  EXPECT_EQ(error("x:n=two"), "x:n=two: option n: 'two' is not an integer");
  EXPECT_EQ(error("x:n=99999999999999999999"),
            "x:n=99999999999999999999: option n: '99999999999999999999' is not an integer");
  EXPECT_EQ(error("x:n=-1"), "x:n=-1: option n: -1 is less than 0");
  EXPECT_EQ(error("x:n=11"), "x:n=11: option n: 11 is more than 10");
  EXPECT_EQ(error("x:p=nan"), "x:p=nan: option p: 'nan' is not a finite number");
  EXPECT_EQ(error("x:p=1.5"), "x:p=1.5: option p: 1.5 is more than 1");
  EXPECT_EQ(error("x:order=abc"), "x:order=abc: option order: 'abc' is not one of awc, atc");
  EXPECT_EQ(error("x:4"), "x:4: unexpected '4'");
  EXPECT_EQ(error("x:q=1"), "x:q=1: unknown option 'q'; x knows n, p, order");
}

TEST(SpecReaderTest, TellsTheOnlyKeyThatAValueMayLack) {
  const auto spec = ParseSpec("dirichlet:0.1");
  SpecReader reader(*spec);
  reader.Real("alpha", 1);
  EXPECT_EQ(reader.Finish().message(), "dirichlet:0.1: unexpected '0.1'; did you mean alpha=0.1?");
}

TEST(SpecReaderTest, SaysWhenThereAreNoOptions) {
  const auto spec = ParseSpec("ring:k=3");
  SpecReader reader(*spec);
  EXPECT_EQ(reader.Finish().message(), "ring:k=3: unknown option 'k'; ring takes none");
}

}  // namespace
}  // namespace grapevine
