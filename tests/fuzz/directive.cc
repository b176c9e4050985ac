// What a node makes of rank 0's directives (node/control/control_line.h): each as one byte of
// length and protobuf.
#include <glog/logging.h>

#include <algorithm>

#include "node/control/address_list.h"
#include "node/control/control_line.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

// `sharing` workers share a budget of gradients, if there are any; otherwise batches may grow up to
// `largest_growth`.
void PlayWith(Rank sharing, int64_t largest_growth, bool open_ended, const uint8_t* data,
              size_t size) {
  constexpr Rank kNodes = 3;
  constexpr Round kRounds = 100;
  SteadyTime now{};
  ControlLine line({.coordinator = "10.0.0.1:7000",
                    .world_size = kNodes,
                    .rounds = kRounds,
                    .sharing = sharing,
                    .largest_growth = largest_growth,
                    .open_ended = open_ended},
                   now);
  Round last_cut = 0;
  int64_t growth = 0;
  control::Registration registration;
  line.OnConnecting(now, &registration);
  for (size_t at = 0; at < size;) {
    const size_t length = std::min<size_t>(data[at], size - at - 1);
    control::Directive directive;
    const bool parsed = directive.ParseFromArray(data + at + 1, static_cast<int>(length));
    at += 1 + length;
    if (!parsed) continue;
    const bool over = line.verdict().has_value();
    line.OnDirective(directive, now);
    CHECK(!over || line.verdict().has_value());
    if (line.roster()) CHECK(UnpackAddresses(line.roster()->addresses(), kNodes).ok());
    while (true) {  // in the order in which they came
      if (const auto limit = line.TakeLimit()) {
        CHECK(limit->limit() >= 0 && limit->limit() <= kRounds * std::max(sharing, 1));
        CHECK(limit->growth() >= growth && limit->growth() <= largest_growth);
        growth = limit->growth();
      } else if (const auto cut = line.TakeCut()) {
        CHECK(*cut > last_cut && *cut <= kRounds);
        last_cut = *cut;
      } else if (const auto decree = line.TakeDecree()) {
        CHECK(decree->has_coast() && open_ended) << decree->DebugString();
        CHECK(decree->coast().below() >= 0 && decree->coast().below() <= kRounds);
      } else {
        break;
      }
    }
    // What rank 0 says goes to a terminal.
    if (!line.verdict()) continue;
    for (const char c : line.verdict()->message()) CHECK(static_cast<uint8_t>(c) >= 0x20) << int{c};
  }
}

FUZZ_TARGET(directive) {
  for (const bool open_ended : {false, true}) PlayWith(0, 0, open_ended, data, size);
  PlayWith(0, 8, /*open_ended=*/false, data, size);
  PlayWith(2, 0, /*open_ended=*/false, data, size);
}

}  // namespace
}  // namespace grapevine
