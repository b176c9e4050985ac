// An optimizer of your own: SGD whose weight decay stays outside of the momentum (SGDW,
// Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 1).
//
//   --optimizer=sgdw:momentum=0.9:weight_decay=0.0005
//
// It is put together from passes that run on the CPU and on a GPU: docs/extending.md.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "optim/optimizer.h"

namespace {

using grapevine::Optimizer;
using grapevine::OptimizerOptions;

class Sgdw final : public Optimizer {
 public:
  explicit Sgdw(const OptimizerOptions& options) : options_(options) {}

  std::string name() const override {
    return absl::StrCat("sgdw:momentum=", options_.momentum,
                        ":weight_decay=", options_.weight_decay);
  }
  int state_vectors() const override { return options_.momentum == 0 ? 0 : 1; }

  // The decay is one more term of the mix, -lr * decay * own.
  void Step(const grapevine::ReplicaLayout& layout, const grapevine::StepRequest& request,
            grapevine::VectorTable& vectors) const override {
    const float* const own = vectors.At(request.own).data.get();
    std::vector<grapevine::WeightedVector> terms = vectors.Resolve(request.mix);
    if (options_.weight_decay > 0) {
      terms.push_back({static_cast<float>(-request.learning_rate * options_.weight_decay), own});
    }
    vectors.passes().MixAndStep(
        terms,
        grapevine::SgdStep{.own = own,
                           .gradient = vectors.At(request.gradient).data.get(),
                           .velocity = vectors.At(request.state).data.get(),
                           .learning_rate = static_cast<float>(request.learning_rate),
                           .gradient_scale = static_cast<float>(request.gradient_scale),
                           .momentum = static_cast<float>(options_.momentum)},
        layout.parameter_size, vectors.At(request.out).data.get());
    grapevine::AverageBuffers(layout, request, vectors);
  }

 private:
  const OptimizerOptions options_;
};

absl::StatusOr<std::unique_ptr<Optimizer>> Make(const grapevine::Spec& spec,
                                                OptimizerOptions options) {
  grapevine::SpecReader reader(spec);
  options.momentum = reader.Real("momentum", options.momentum, 0, 0.9999);
  options.weight_decay = reader.Real("weight_decay", options.weight_decay, 0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Sgdw>(options);
}

const grapevine::Registration kSgdw(grapevine::Optimizers(),
                                    {.name = "sgdw",
                                     .options = "[:momentum=0.9][:weight_decay=0.0001]",
                                     .help = "heavy-ball momentum, with weight decay apart from it",
                                     .examples = {"sgdw:momentum=0", "sgdw:momentum=0.9",
                                                  "sgdw:momentum=0.9:weight_decay=0.01"},
                                     .make = Make});

}  // namespace
