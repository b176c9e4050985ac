// What nearly every file of a library includes, precompiled as
// //third_party:abseil_prefix. Files include what they use all the same.
#ifndef GRAPEVINE_THIRD_PARTY_ABSEIL_HEADERS_H_
#define GRAPEVINE_THIRD_PARTY_ABSEIL_HEADERS_H_

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_THIRD_PARTY_ABSEIL_HEADERS_H_
