#include "model/datasets/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/spec.h"
#include "base/status.h"
#include "model/data/dataset.h"
#include "model/datasets/dataset_kind.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kPixels = kSide * kSide;
constexpr int64_t kClasses = 10;

// Extents of the variation of samples, which makes the data set hard.
constexpr double kBend = 0.05;  // shift of each point of a stroke, in glyph extents
constexpr double kTurn = 0.25;  // radians, roughly
constexpr double kShear = 0.2;
constexpr double kShift = 3.5;    // pixels
constexpr double kSmallest = 15;  // glyph height in pixels
constexpr double kLargest = 19;
constexpr double kNoise = 0.25;  // peak of the noise, as a fraction of full white

struct Point {
  double x;
  double y;
};

using Stroke = std::vector<Point>;
using Canvas = std::array<double, kPixels>;

// Returns one stroke for each digit, in a unit square with y pointing down.
const std::array<Stroke, kClasses>& Glyphs() {
  static const std::array<Stroke, kClasses> glyphs = {{
      {{.5, 0}, {.8, .2}, {.85, .5}, {.8, .8}, {.5, 1}, {.2, .8}, {.15, .5}, {.2, .2}, {.5, 0}},
      {{.3, .2}, {.55, 0}, {.55, 1}},
      {{.2, .25}, {.35, 0}, {.65, 0}, {.8, .25}, {.6, .55}, {.2, 1}, {.85, 1}},
      {{.2, .05}, {.7, 0}, {.8, .25}, {.45, .45}, {.8, .65}, {.75, .92}, {.2, 1}},
      {{.65, 1}, {.65, 0}, {.15, .68}, {.9, .68}},
      {{.8, 0}, {.25, 0}, {.22, .42}, {.65, .4}, {.85, .68}, {.65, .98}, {.2, 1}},
      {{.75, 0}, {.35, .3}, {.2, .65}, {.35, 1}, {.7, .98}, {.82, .72}, {.6, .5}, {.22, .65}},
      {{.15, 0}, {.85, 0}, {.4, 1}},
      {{.5, 0},
       {.75, .12},
       {.7, .35},
       {.3, .6},
       {.2, .85},
       {.5, 1},
       {.8, .85},
       {.7, .6},
       {.3, .35},
       {.25, .12},
       {.5, 0}},
      {{.78, .35}, {.4, .5}, {.2, .28}, {.4, .02}, {.7, .05}, {.8, .35}, {.65, 1}},
  }};
  return glyphs;
}

// Draws uniformly from [-extent, extent).
double Around(KeyedRandom& random, double extent) { return extent * (2 * random.Unit() - 1); }

double Between(KeyedRandom& random, double low, double high) {
  return low + (high - low) * random.Unit();
}

// Bends a glyph's points, then turns, shears, scales and shifts the whole glyph.
Stroke Deform(const Stroke& glyph, KeyedRandom& random) {
  // A rotation by an angle of about 2t, without sines.
  const double t = Around(random, kTurn / 2);
  const double cosine = (1 - t * t) / (1 + t * t);
  const double sine = 2 * t / (1 + t * t);
  const double shear = Around(random, kShear);
  const double height = Between(random, kSmallest, kLargest);
  const double width = height * Between(random, 0.7, 1.0);
  const double centre_x = kSide / 2.0 + Around(random, kShift);
  const double centre_y = kSide / 2.0 + Around(random, kShift);
  Stroke stroke;
  for (const Point& point : glyph) {
    const double y = height * (point.y - 0.5 + Around(random, kBend));
    const double x = width * (point.x - 0.5 + Around(random, kBend)) + shear * y;
    stroke.push_back({centre_x + cosine * x - sine * y, centre_y + sine * x + cosine * y});
  }
  return stroke;
}

double SquaredDistanceToSegment(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double along = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
  const double t = std::clamp(along, 0.0, 1.0);
  const double ex = p.x - (a.x + t * dx);
  const double ey = p.y - (a.y + t * dy);
  return ex * ex + ey * ey;
}

struct Range {
  int64_t begin;
  int64_t end;
};

// Returns the pixels within `reach` of [a, b] along one axis.
Range PixelsNear(double a, double b, double reach) {
  const double low = std::clamp(std::min(a, b) - reach, 0.0, static_cast<double>(kSide));
  const double high = std::clamp(std::max(a, b) + reach, 0.0, static_cast<double>(kSide));
  return {static_cast<int64_t>(low), static_cast<int64_t>(std::ceil(high))};
}

void DrawSegment(const Point& a, const Point& b, double radius, double ink, Canvas* canvas) {
  const double reach = radius + 0.5;
  const Range rows = PixelsNear(a.y, b.y, reach);
  const Range columns = PixelsNear(a.x, b.x, reach);
  for (int64_t y = rows.begin; y < rows.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      const Point centre{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      const double squared = SquaredDistanceToSegment(centre, a, b);
      if (squared >= reach * reach) continue;
      const double coverage = std::min(1.0, reach - std::sqrt(squared));
      double& pixel = (*canvas)[static_cast<size_t>(y * kSide + x)];
      pixel = std::max(pixel, ink * coverage);
    }
  }
}

void DrawStroke(const Stroke& stroke, double radius, double ink, Canvas* canvas) {
  for (size_t i = 1; i < stroke.size(); ++i) {
    DrawSegment(stroke[i - 1], stroke[i], radius, ink, canvas);
  }
}

// Quantizes the canvas under noise with a triangular distribution.
void Expose(const Canvas& canvas, KeyedRandom& random, uint8_t* pixels) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < kPixels; ++i) {
    if (i % 4 == 0) bits = random.Next();
    const double noise = static_cast<double>(bits & 0xff) - static_cast<double>(bits >> 8 & 0xff);
    bits >>= 16;
    const double white = 255 * canvas[static_cast<size_t>(i)] + kNoise * noise;
    pixels[i] = static_cast<uint8_t>(std::clamp(white, 0.0, 255.0));
  }
}

void DrawSample(int64_t label, KeyedRandom random, uint8_t* pixels) {
  Canvas canvas = {};
  const double radius = Between(random, 0.6, 1.3);
  const double ink = Between(random, 0.6, 1.0);
  DrawStroke(Deform(Glyphs()[static_cast<size_t>(label)], random), radius, ink, &canvas);
  Expose(canvas, random, pixels);
}

std::shared_ptr<const Dataset> Draw(int64_t samples, uint64_t part, uint64_t seed) {
  std::vector<uint8_t> pixels(static_cast<size_t>(samples * kPixels));
  std::vector<Label> labels(static_cast<size_t>(samples));
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t label = i % kClasses;
    labels[static_cast<size_t>(i)] = static_cast<Label>(label);
    DrawSample(label, KeyedRandom(seed, Purpose::kSyntheticData, part, static_cast<uint64_t>(i)),
               &pixels[static_cast<size_t>(i * kPixels)]);
  }
  DatasetTraits traits{.name = "synthetic",
                       .shape = {.height = kSide, .width = kSide, .channels = 1},
                       .classes = kClasses,
                       // The deviation is larger than the pixels' own, 0.21, with which
                       // a learning rate of 0.05 is at the edge of stability.
                       .normalization = {.mean = {0.11f}, .deviation = {0.5f}}};
  return std::make_shared<const MemoryDataset>(std::move(traits), std::move(pixels),
                                               std::move(labels));
}

constexpr int64_t kMaxSamples = 10'000'000;

absl::StatusOr<TrainTest> MakeSyntheticFrom(const Spec& spec) {
  SpecReader reader(spec);
  SyntheticOptions options;
  options.train = reader.Integer("train", options.train, 1, kMaxSamples);
  options.test = reader.Integer("test", options.test, 1, kMaxSamples);
  options.seed =
      static_cast<uint64_t>(reader.Integer("seed", static_cast<int64_t>(options.seed), 0));
  RETURN_IF_ERROR(reader.Finish());
  return MakeSynthetic(options);
}

const Registration kSynthetic(Datasets(), {.name = "synthetic",
                                           .options = "[:train=10000][:test=2000][:seed=1]",
                                           .help = "built in",
                                           .read = MakeSyntheticFrom});

}  // namespace

TrainTest MakeSynthetic(const SyntheticOptions& options) {
  return {.train = Draw(options.train, /*part=*/0, options.seed),
          .test = Draw(options.test, /*part=*/1, options.seed)};
}

}  // namespace grapevine
