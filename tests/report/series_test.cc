#include "report/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/axis.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

using Series = std::vector<Point>;

TEST(SeriesOf, TakesTheRoundsAtWhichBothWereMeasured) {
  std::vector<RunMetrics> metrics(3);
  for (int i = 0; i < 3; ++i) metrics[i].epoch = 2 - i;
  metrics[0].test_accuracy = 0.9;
  metrics[2].test_accuracy = 0.1;
  metrics[2].bytes_sent_total = 5;
  const Series against_epoch = SeriesOf(metrics, Horizontal::kEpoch, Vertical::kTestAccuracy);
  ASSERT_EQ(against_epoch.size(), 2u);
  EXPECT_EQ(against_epoch[0].y, 0.1);
  EXPECT_EQ(against_epoch[1].x, 2);
  const Series against_bytes = SeriesOf(metrics, Horizontal::kBytes, Vertical::kTestAccuracy);
  ASSERT_EQ(against_bytes.size(), 1u);
  EXPECT_EQ(against_bytes[0].x, 5);
  EXPECT_TRUE(SeriesOf(metrics, Horizontal::kTime, Vertical::kTrainLoss).empty());
}

void ExpectPoint(const BandPoint& point, double x, double low, double mean, double high) {
  EXPECT_DOUBLE_EQ(point.x, x);
  EXPECT_DOUBLE_EQ(point.low, low);
  EXPECT_DOUBLE_EQ(point.mean, mean);
  EXPECT_DOUBLE_EQ(point.high, high);
}

TEST(BandOf, IsTheSeriesItselfWhenThereIsOne) {
  const Series series[] = {{{0, 1}, {2, 3}}};
  const Band band = BandOf(series);
  ASSERT_EQ(band.size(), 2u);
  ExpectPoint(band[1], 2, 3, 3, 3);
}

TEST(BandOf, InterpolatesWhereSeriesAreMeasuredElsewhere) {
  const Series series[] = {{{0, 0}, {4, 8}}, {{1, 1}, {3, 1}, {5, 1}}};
  const Band band = BandOf(series);
  ASSERT_EQ(band.size(), 5u);
  ExpectPoint(band[0], 0, 0, 0, 0);  // one of them alone
  ExpectPoint(band[1], 1, 1, 1.5, 2);
  ExpectPoint(band[2], 3, 1, 3.5, 6);
  ExpectPoint(band[3], 4, 1, 4.5, 8);
  ExpectPoint(band[4], 5, 1, 1, 1);  // the other alone
}

TEST(BandOf, DrawsEachSeriesToItsEnd) {
  const Series apart[] = {{{0, 1}, {1, 2}}, {{2, 3}, {3, 4}}};
  const Band band = BandOf(apart);
  ASSERT_EQ(band.size(), 4u);
  ExpectPoint(band[1], 1, 2, 2, 2);
  ExpectPoint(band[2], 2, 3, 3, 3);
  const Series one_empty[] = {{{0, 7}}, {}};
  ASSERT_EQ(BandOf(one_empty).size(), 1u);
  ExpectPoint(BandOf(one_empty)[0], 0, 7, 7, 7);
  EXPECT_TRUE(BandOf({}).empty());
}

TEST(SeriesOf, TakesWhatRoundingLeavesOfAMeanForAgreement) {
  std::vector<RunMetrics> metrics(2);
  metrics[0].consensus_distance = 3e-32;
  metrics[1].consensus_distance = 1e-14;
  metrics[1].epoch = 1;
  const Series series = SeriesOf(metrics, Horizontal::kEpoch, Vertical::kConsensusDistance);
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].y, 0);
  EXPECT_EQ(series[1].y, 1e-14);
}

TEST(Thin, KeepsMeansExtremesAndTheEnd) {
  Band band;
  for (int i = 0; i < 11; ++i) {
    band.push_back({double(i), i - 1.0, double(i), i + 1.0});
  }
  const Band thin = Thin(band, 5);
  ASSERT_EQ(thin.size(), 5u);
  ExpectPoint(thin[0], 1, -1, 1, 3);
  ExpectPoint(thin[3], 9, 8, 9, 10);
  ExpectPoint(thin[4], 10, 9, 10, 11);
  EXPECT_EQ(Thin(band, 11).size(), 11u);
}

TEST(AxisOf, ChoosesUnits) {
  const Band megabytes[] = {{{0, 1, 1, 1}, {2.5e6, 1, 1, 1}}};
  const Axis bytes = AxisOf(Horizontal::kBytes, megabytes);
  EXPECT_EQ(bytes.label, "bytes sent by all nodes (MB)");
  EXPECT_EQ(bytes.high, 2.5);
  const Band hours[] = {{{0, 1, 1, 1}, {9000, 1, 1, 1}}};
  EXPECT_EQ(AxisOf(Horizontal::kTime, hours).label, "time (h)");
  EXPECT_EQ(AxisOf(Horizontal::kTime, hours).high, 2.5);
  const Band accuracy[] = {{{0, 0.1, 0.5, 0.9}}};
  EXPECT_NEAR(AxisOf(Vertical::kTestAccuracy, accuracy).high, 93.2, 1e-9);
}

TEST(AxisOf, HasARangeWhateverTheData) {
  const std::vector<Band> data[] = {
      {}, {{}}, {{{0, 0, 0, 0}}}, {{{3, 7, 7, 7}}}, {{{0, -1, -1, -1}}}};
  for (const std::vector<Band>& curves : data) {
    for (const Horizontal x : {Horizontal::kEpoch, Horizontal::kBytes, Horizontal::kTime}) {
      EXPECT_LT(AxisOf(x, curves).low, AxisOf(x, curves).high);
    }
    for (const Vertical y : {Vertical::kTrainLoss, Vertical::kTestLoss, Vertical::kTestAccuracy,
                             Vertical::kConsensusDistance}) {
      const Axis axis = AxisOf(y, curves);
      EXPECT_LT(axis.low, axis.high);
      if (axis.logarithmic) {
        EXPECT_GT(axis.low, 0);
      }
    }
  }
}

TEST(AxisOf, NeverLeavesALogarithmicAxisBare) {
  const Band narrow[] = {{{0, 0.15, 0.2, 0.6}}};
  const Axis axis = AxisOf(Vertical::kConsensusDistance, narrow);
  EXPECT_FALSE(axis.decades);
  EXPECT_THAT(axis.tics, ElementsAre(0.2, 0.5));
  const Band wide[] = {{{0, 1e-6, 1e-3, 1}, {1, 0, 0, 0}}};
  EXPECT_TRUE(AxisOf(Vertical::kConsensusDistance, wide).decades);
}

}  // namespace
}  // namespace grapevine
