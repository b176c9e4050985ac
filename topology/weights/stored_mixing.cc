#include "topology/weights/stored_mixing.h"

#include <utility>

namespace grapevine {
namespace {

class StoredMixing final : public Mixing {
 public:
  StoredMixing(std::string name, std::shared_ptr<const Topology> topology,
               std::vector<MixingRows> rounds, Stochastic stochastic)
      : name_(std::move(name)),
        topology_(std::move(topology)),
        rounds_(std::move(rounds)),
        stochastic_(stochastic) {}

  std::string name() const override { return name_; }
  const Topology& topology() const override { return *topology_; }
  Stochastic stochastic() const override { return stochastic_; }
  void Row(Rank rank, Round round, MixingRow* row) const override {
    *row = rounds_[round % static_cast<Round>(rounds_.size())][rank];
  }

 private:
  const std::string name_;
  const std::shared_ptr<const Topology> topology_;
  const std::vector<MixingRows> rounds_;
  const Stochastic stochastic_;
};

}  // namespace

std::shared_ptr<const Mixing> MakeStoredMixing(std::string name,
                                               std::shared_ptr<const Topology> topology,
                                               std::vector<MixingRows> rounds,
                                               Stochastic stochastic) {
  return std::make_shared<StoredMixing>(std::move(name), std::move(topology), std::move(rounds),
                                        stochastic);
}

}  // namespace grapevine
