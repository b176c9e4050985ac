// What a node does whose lease on rank 0's role has lapsed: it takes the role again, unless another
// node has had the role meanwhile, even if that node is gone.
//
// The store keeps two keys: the role's, which goes with the lease of the node that has the role,
// and the claim, which says which node took the role last. Whoever takes the role renews the claim,
// on condition that no node has since the claim was looked at: another node may have had the role
// in between, however long this one has stood still.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_LIFE_ROLE_LAPSED_ROLE_H_
#define GRAPEVINE_NODE_LIFE_ROLE_LAPSED_ROLE_H_

namespace grapevine {

class LapsedRole {
 public:
  enum class Step {
    kLook,      // at the claim
    kTake,      // the role
    kClaim,     // it, if the claim is as it was looked at
    kRegained,  // the role is this node's again
    kYield,     // another node has had it: this node lets it go for good
  };

  Step step() const { return step_; }

  // The answer to kLook: whether the claim is this node's.
  void OnLooked(bool own);
  // The answer to kTake: whether this node has the role. If not, a node has it: perhaps this one,
  // by the lease that has yet to lapse in the store.
  void OnTaken(bool taken);
  void OnClaimed();
  // The store has not answered, or the claim is not as it was looked at. This node lets go of what
  // it may have taken, and begins anew.
  void OnTrouble();

 private:
  Step step_ = Step::kLook;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LIFE_ROLE_LAPSED_ROLE_H_
