// What is in a data set, as text that two machines can compare: each may keep its
// files where it likes.
//
// Pure function, safe from any thread.
#ifndef GRAPEVINE_MODEL_DATA_DATASET_CONTENTS_H_
#define GRAPEVINE_MODEL_DATA_DATASET_CONTENTS_H_

#include <string>

#include "model/data/dataset.h"

namespace grapevine {

// "mnist: 60000 + 10000 images of 28x28x1 in 10 classes, checksum 5f0c3d2e": equal
// for equal pixels, labels, normalization and augmentation, in the same order; for
// images in files, for equal names and sizes of files. The checksum is a CRC-32C over
// all of them.
std::string DescribeContents(const TrainTest& data);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_DATASET_CONTENTS_H_
