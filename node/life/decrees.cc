#include "node/life/decrees.h"

#include <glog/logging.h>

#include <optional>

#include "node/control/control_line.h"

namespace grapevine {

void Decrees::Obey(const control::Directive& decree) {
  switch (decree.kind_case()) {
    case control::Directive::kPrepare:
      return Prepare(decree.prepare().ballot());
    case control::Directive::kCheckpointAt: {
      const control::CheckpointAt& at = decree.checkpoint_at();
      return runner_.SaveAt(at.ballot(), at.has_round() ? std::optional(at.round()) : std::nullopt);
    }
    case control::Directive::kCoast:
      return orders_.coast(decree.coast().below(), decree.coast().all());
    case control::Directive::kView:
      return Change(decree.view());
    default:
      LOG(FATAL) << "no decree: " << decree.ShortDebugString();
  }
}

void Decrees::Prepare(uint32_t ballot) {
  if (!options_.saves_on_call) return runner_.Prepare(ballot);
  orders_.promise(ballot, runner_.Hold(ballot) - 1);
}

void Decrees::Change(const control::View& view) {
  const std::optional<Round> again = view.has_again() ? std::optional(view.again()) : std::nullopt;
  if (options_.role_moves && view.lead() == options_.rank && !std::exchange(leads_, true)) {
    orders_.evaluate_from(again.value_or(view.from() + 1));
  }
  for (const control::Newcomer& newcomer : view.newcomers()) orders_.expect(newcomer);
  runner_.ChangeView(ViewOf(view), again, view.lead());
}

}  // namespace grapevine
