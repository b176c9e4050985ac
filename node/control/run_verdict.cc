#include "node/control/run_verdict.h"

#include "base/status.h"

namespace grapevine {

control::Directive AbortDirective(const Blame& why, bool others_go_on) {
  control::Directive directive;
  control::Abort& abort = *directive.mutable_abort();
  abort.set_message(why.message);
  abort.set_failure(static_cast<int>(why.failure));
  abort.set_culprit(why.culprit);
  abort.set_others_go_on(others_go_on);
  return directive;
}

void RunVerdict::Pass(const Blame& why) {
  told_ = AbortDirective(why);
  status_ = WithFailure(absl::AbortedError(why.message), why.failure);
}

void RunVerdict::Resign(const Blame& why, bool others_go_on) {
  Pass(why);
  told_.mutable_abort()->set_others_go_on(others_go_on);
  resigned_ = true;
}

void RunVerdict::Tell(SessionId session, Rank rank) {
  awaited_.erase(rank);
  out_.End(session, told_);
}

void RunVerdict::AwaitAll(Rank world_size) {
  for (Rank rank = 1; rank < world_size; ++rank) awaited_.insert(rank);
}

}  // namespace grapevine
