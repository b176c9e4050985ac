// What a file that reads or writes JSON includes, precompiled as
// //third_party:json_prefix.
#ifndef GRAPEVINE_THIRD_PARTY_JSON_HEADERS_H_
#define GRAPEVINE_THIRD_PARTY_JSON_HEADERS_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#endif  // GRAPEVINE_THIRD_PARTY_JSON_HEADERS_H_
