// An image of a data set; the test fails if it cannot be read.
#ifndef GRAPEVINE_TESTS_MODEL_DATASETS_IMAGE_OF_H_
#define GRAPEVINE_TESTS_MODEL_DATASETS_IMAGE_OF_H_

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/data/dataset.h"

namespace grapevine {

inline std::vector<uint8_t> ImageOf(const Dataset& data, int64_t i) {
  ImageScratch scratch;
  const auto image = data.Image(i, &scratch);
  EXPECT_TRUE(image.ok()) << image.status();
  return {image->begin(), image->end()};
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_DATASETS_IMAGE_OF_H_
