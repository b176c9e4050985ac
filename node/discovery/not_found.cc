#include "node/discovery/not_found.h"

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/units.h"

namespace grapevine {

absl::Status RankZeroNotFound(const std::string& place, std::chrono::nanoseconds looked,
                              const absl::Status& why) {
  return WithFailure(
      absl::UnavailableError(absl::StrCat(
          "cannot join the run: for ", HumanSeconds(looked), " no rank 0 was found by way of ",
          place, ": ", why.message(), " (--rendezvous-timeout gives more time)")),
      Failure::kRendezvous);
}

}  // namespace grapevine
